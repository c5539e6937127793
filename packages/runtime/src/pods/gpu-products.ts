import type { KubeObject } from "@konverge/core";
import { type Affinity, Node } from "@konverge/kinds";
import { cacheKind, type WatchedKind } from "../definition/watched.ts";

/** Who makes GPUs whose products nodes report. */
export type GpuVendor = "NVIDIA" | "AMD" | "Intel";

/** The labels in which the vendors' feature discovery reports the GPUs of a node. */
const PRODUCT_LABELS: Readonly<Record<GpuVendor, string>> = {
  NVIDIA: "nvidia.com/gpu.product",
  AMD: "amd.com/gpu.product-name",
  Intel: "gpu.intel.com/product",
};
const ALL_LABELS = Object.values(PRODUCT_LABELS);

/** The GPU products of a vendor (default: NVIDIA) that nodes offer, in order. */
export function gpuProductsOf(nodes: Iterable<Pick<Node, "metadata">>, vendor: GpuVendor = "NVIDIA"): string[] {
  const found = new Set<string>();
  for (const { metadata } of nodes) {
    const product = metadata.labels?.[PRODUCT_LABELS[vendor]];
    if (product) found.add(product);
  }
  return [...found].sort();
}

/** Whether a product is of a type: `NVIDIA-H100-80GB-HBM3` is an `H100`, but `L40S` is not an `L4`. */
export function isGpuOfType(product: string, type: string): boolean {
  const [words, wanted] = [wordsOf(product), wordsOf(type)];
  return words.some((_, i) => wanted.every((word, j) => words[i + j] === word));
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().split(/[-_. ]+/);
}

/**
 * The products of a type that pods can run on. Products that were chosen before stay as long as one of them is
 * available, so that a new node does not replace running pods.
 */
export function gpuProductsFor(type: string, offered: readonly string[], before: readonly string[] = []): string[] {
  if (before.some((product) => offered.includes(product) && isGpuOfType(product, type))) return [...before];
  const fitting = offered.filter((product) => isGpuOfType(product, type));
  return fitting.length > 0 ? fitting : [type];
}

/** Only nodes with one of these products of a vendor (default: NVIDIA). */
export function gpuProductAffinity(products: readonly string[], vendor: GpuVendor = "NVIDIA"): Affinity {
  const expression = { key: PRODUCT_LABELS[vendor], operator: "In" as const, values: [...products] };
  return {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [expression] }] },
    },
  };
}

/** The products in an affinity that {@link gpuProductAffinity} returned. */
export function gpuProductsIn(affinity: Affinity | undefined): readonly string[] {
  const { nodeSelectorTerms = [] } = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? {};
  const expressions = nodeSelectorTerms.flatMap(({ matchExpressions = [] }) => matchExpressions);
  return expressions.find(({ key }) => ALL_LABELS.includes(key))?.values ?? [];
}

/**
 * For the `watches` of a controller that calls {@link gpuProductsOf}: nodes, of which only the GPU products are cached.
 */
export function watchGpuNodes<T extends KubeObject>(): WatchedKind<T> {
  return cacheKind<Node, T>(Node, {
    project: ({ apiVersion, kind, metadata: { name, uid, resourceVersion, labels } }) => {
      const products = ALL_LABELS.flatMap((label) => (labels?.[label] ? [[label, labels[label]]] : []));
      return {
        apiVersion,
        kind,
        metadata: { name, uid, resourceVersion, ...(products.length > 0 && { labels: Object.fromEntries(products) }) },
      };
    },
  });
}
