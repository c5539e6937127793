import { cel, z } from "konverge";
import type { PodResourceClaim, ResourceRequirements } from "konverge/kinds";
import type { DeepReadonly } from "konverge/objects";
import type { GpuVendor } from "konverge/pods";

/** The resource by which each vendor's device plugin offers GPUs. */
const RESOURCES: Readonly<Record<GpuVendor, string>> = {
  NVIDIA: "nvidia.com/gpu",
  AMD: "amd.com/gpu",
  Intel: "gpu.intel.com/xe",
};

/** The field `accelerator` of a spec. */
export const acceleratorField = z
  .object({
    vendor: z
      .enum(["NVIDIA", "AMD", "Intel"])
      .optional()
      .describe("GPUs of this vendor's device plugin: nvidia.com/gpu, amd.com/gpu or gpu.intel.com/xe."),
    mig: z
      .string()
      .max(32)
      .regex(/^[1-9]g\.[1-9][0-9]*gb(\.me)?$/)
      .optional()
      .describe("A slice of an NVIDIA GPU with this MIG profile, such as 1g.10gb: nvidia.com/mig-1g.10gb."),
    resource: z
      .string()
      .max(253)
      .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?\/[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/)
      .optional()
      .describe("Another extended resource, such as habana.ai/gaudi or google.com/tpu."),
    claimTemplate: z
      .string()
      .min(1)
      .max(253)
      .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/)
      .optional()
      .describe(
        "A ResourceClaimTemplate of the same namespace, which asks for gpuCount devices: each replica gets a claim of it.",
      ),
  })
  .check(
    cel(
      "[has(self.vendor), has(self.mig), has(self.resource), has(self.claimTemplate)].filter(given, given).size() == 1",
      "exactly one of vendor, mig, resource and claimTemplate must be set",
    ),
  )
  .describe("What gpuCount counts. Default: vendor NVIDIA.");
export type Accelerator = DeepReadonly<z.infer<typeof acceleratorField>>;

/** Rules about the field. */
export const acceleratorRules = [
  cel(
    "!has(self.accelerator) || !has(self.accelerator.mig) || self.gpuCount <= 1",
    "accelerator.mig: a model cannot be split across slices of GPUs, so gpuCount must be 1",
  ),
  cel(
    "!has(self.accelerator) || !has(self.gpuType) || has(self.accelerator.vendor) || has(self.accelerator.mig)",
    "gpuType selects nodes by the label of a vendor: with accelerator.resource use a node selector in template, with accelerator.claimTemplate a selector of its devices",
  ),
];

interface Spec {
  readonly gpuCount: number;
  readonly accelerator?: Accelerator | undefined;
}

/** Whose label says which GPUs a node has. */
export function vendorOf({ accelerator }: Spec): GpuVendor {
  return accelerator?.vendor ?? "NVIDIA";
}

/** The extended resource that is requested; undefined for claims. */
function resourceName({ accelerator }: Spec): string | undefined {
  if (accelerator?.claimTemplate) return undefined;
  if (accelerator?.mig) return `nvidia.com/mig-${accelerator.mig}`;
  return accelerator?.resource ?? RESOURCES[vendorOf({ gpuCount: 0, accelerator })];
}

/** The accelerators as limits of a container. */
export function acceleratorLimits(spec: Spec): Record<string, string> {
  const name = resourceName(spec);
  return name !== undefined && spec.gpuCount > 0 ? { [name]: String(spec.gpuCount) } : {};
}

const CLAIM = "accelerators";

/** The accelerators as a claim of a pod and of its container, by dynamic resource allocation; undefined if they are no claim. */
export function acceleratorClaim({
  accelerator,
  gpuCount,
}: Spec): { pod: PodResourceClaim[]; container: NonNullable<ResourceRequirements["claims"]> } | undefined {
  const { claimTemplate } = accelerator ?? {};
  if (claimTemplate === undefined || gpuCount === 0) return undefined;
  return { pod: [{ name: CLAIM, resourceClaimTemplateName: claimTemplate }], container: [{ name: CLAIM }] };
}
