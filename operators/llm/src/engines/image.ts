import type { GpuVendor } from "konverge/pods";
import { vendorOf } from "../accelerator.ts";
import type { ServingSpec } from "../serving-spec.ts";

/** The image for a spec's accelerators, of these. Claims are taken for NVIDIA's. */
export function imageOf(images: Partial<Record<GpuVendor | "none", string>>) {
  return (spec: ServingSpec): string | undefined => {
    if (spec.gpuCount === 0 && images.none) return images.none;
    return spec.accelerator?.resource ? undefined : images[vendorOf(spec)];
  };
}
