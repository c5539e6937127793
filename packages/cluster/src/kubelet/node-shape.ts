import { own } from "@konverge/core";
import type { Taint } from "@konverge/kinds";

/** What a simulated node is like. */
export interface NodeShape {
  readonly name: string;
  /** Quantities by resource: `cpu`, `memory`, `pods`, `nvidia.com/gpu` … */
  readonly capacity: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly Taint[];
}

const PLAIN = { cpu: "32", memory: "128Gi", pods: "110", "ephemeral-storage": "500Gi" };
const WITH_GPUS = { cpu: "192", memory: "2Ti", pods: "110", "ephemeral-storage": "4Ti" };

/** The GPUs that people buy as NVIDIA's GPU feature discovery labels their nodes: product, memory in MiB, family. */
const GPUS: Readonly<Record<string, readonly [product: string, memory: string, family: string]>> = {
  A10: ["NVIDIA-A10", "24576", "ampere"],
  A100: ["NVIDIA-A100-SXM4-80GB", "81920", "ampere"],
  B200: ["NVIDIA-B200", "183359", "blackwell"],
  H100: ["NVIDIA-H100-80GB-HBM3", "81559", "hopper"],
  H200: ["NVIDIA-H200", "143771", "hopper"],
  L4: ["NVIDIA-L4", "23034", "ada-lovelace"],
  L40S: ["NVIDIA-L40S", "46068", "ada-lovelace"],
  T4: ["Tesla-T4", "15360", "turing"],
};

/** A number of nodes without GPUs: `node-1`, `node-2` … */
export function plainNodes(count: number): NodeShape[] {
  return Array.from({ length: count }, (_, index) => ({ name: `node-${index + 1}`, capacity: PLAIN }));
}

/** A number of nodes with GPUs of a type: `gpu-h100-1` …, with the product `NVIDIA-H100-80GB-HBM3`. */
export function gpuNodes(type: string, gpus: number, count = 1): NodeShape[] {
  const [product = type, memory, family] = own(GPUS, type) ?? [];
  return Array.from({ length: count }, (_, index) => ({
    name: `gpu-${type.toLowerCase().replace(/[^a-z0-9]+/g, "-")}-${index + 1}`,
    capacity: { ...WITH_GPUS, "nvidia.com/gpu": String(gpus) },
    labels: {
      "nvidia.com/gpu.present": "true",
      "nvidia.com/gpu.product": product,
      "nvidia.com/gpu.count": String(gpus),
      ...(memory && { "nvidia.com/gpu.memory": memory }),
      ...(family && { "nvidia.com/gpu.family": family }),
    },
  }));
}

/** Nodes with GPUs as a command line writes them: `H100=8` for a node with eight, `H100=8x2,L4=4` for more. */
export function parseGpuNodes(text: string): NodeShape[] {
  if (text === "" || text === "none") return [];
  return text.split(",").flatMap((part) => {
    const [, type, gpus, count = "1"] = /^\s*([A-Za-z][\w.-]*)=(\d+)(?:x(\d+))?\s*$/.exec(part) ?? [];
    if (!type || !gpus) throw new Error(`GPUs are written TYPE=NUMBER or TYPE=NUMBERxNODES (H100=8x2), not ${part}`);
    return gpuNodes(type, Number(gpus), Number(count));
  });
}

/** The default nodes of a cluster: capacity for most samples, and GPUs of two types. */
export const DEFAULT_NODES: readonly NodeShape[] = [
  ...plainNodes(3),
  ...gpuNodes("H100", 8, 2),
  ...gpuNodes("A100", 8),
];
