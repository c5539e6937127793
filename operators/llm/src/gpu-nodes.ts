import type { Affinity, Node } from "konverge/kinds";

/** The label by which NVIDIA's feature discovery tells what a node has. */
export const GPU_PRODUCT = "nvidia.com/gpu.product";

/** The GPU products that nodes offer, in order. */
export function productsOf(nodes: Iterable<Pick<Node, "metadata">>): string[] {
  const found = new Set<string>();
  for (const { metadata } of nodes) {
    const product = metadata.labels?.[GPU_PRODUCT];
    if (product) found.add(product);
  }
  return [...found].sort();
}

/** Whether a product is of a type: `NVIDIA-H100-80GB-HBM3` is an `H100`, but `L40S` is no `L4`. */
export function isOfType(product: string, type: string): boolean {
  const [words, wanted] = [wordsOf(product), wordsOf(type)];
  return words.some((_, i) => wanted.every((word, j) => words[i + j] === word));
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().split(/[-_. ]+/);
}

/**
 * The products that replicas of a model may run on. Those chosen before stay, as long as one of them can be had: a node that
 * is new in the cluster is no reason to replace running replicas.
 */
export function productsFor(type: string, offered: readonly string[], before: readonly string[] = []): string[] {
  if (before.some((product) => offered.includes(product) && isOfType(product, type))) return [...before];
  const fitting = offered.filter((product) => isOfType(product, type));
  return fitting.length > 0 ? fitting : [type];
}

/** Only nodes with one of these products. */
export function onProducts(products: readonly string[]): Affinity {
  const expression = { key: GPU_PRODUCT, operator: "In" as const, values: [...products] };
  return {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [expression] }] },
    },
  };
}

/** The products that an affinity of ours asks for. */
export function productsIn(affinity: Affinity | undefined): readonly string[] {
  const { nodeSelectorTerms = [] } = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? {};
  const expressions = nodeSelectorTerms.flatMap(({ matchExpressions = [] }) => matchExpressions);
  return expressions.find(({ key }) => key === GPU_PRODUCT)?.values ?? [];
}
