/** Simulated nodes: how many, and what each has. */
export interface GpuNodes {
  /** How many nodes. Default 3. */
  nodes?: number;
  /** nvidia.com/gpu on each node; 0 leaves GPUs and their labels out. Default 8. */
  gpus?: number;
  /** Value of the label nvidia.com/gpu.product. */
  gpuProduct?: string;
  cpu?: string;
  memory?: string;
  /** Most pods that fit on one node. */
  pods?: number;
  /** Further labels for every node. */
  labels?: Record<string, string>;
}

/** Node objects as a cloud and NVIDIA's GPU feature discovery would label them. */
export function nodeObjects(options: GpuNodes): object[] {
  const {
    nodes = 3,
    gpus = 8,
    gpuProduct = "NVIDIA-H100-80GB-HBM3",
    cpu = "64",
    memory = "512Gi",
    pods = 110,
  } = options;
  return Array.from({ length: nodes }, (_, index) => {
    const name = `node-${index}`;
    const gpu: Record<string, string> = gpus > 0 ? { "nvidia.com/gpu": String(gpus) } : {};
    const resources = { cpu, memory, pods: String(pods), "ephemeral-storage": "1Ti", ...gpu };
    const gpuLabels: Record<string, string> =
      gpus > 0
        ? {
            "nvidia.com/gpu.present": "true",
            "nvidia.com/gpu.product": gpuProduct,
            "nvidia.com/gpu.count": String(gpus),
            "node.kubernetes.io/instance-type": `gpu-${gpus}`,
          }
        : {};
    return {
      apiVersion: "v1",
      kind: "Node",
      metadata: {
        name,
        annotations: { "kwok.x-k8s.io/node": "fake" },
        labels: {
          "kubernetes.io/hostname": name,
          "kubernetes.io/os": "linux",
          "kubernetes.io/arch": "amd64",
          "node-role.kubernetes.io/agent": "",
          "topology.kubernetes.io/zone": `zone-${"abc"[index % 3]}`,
          type: "kwok",
          ...gpuLabels,
          ...options.labels,
        },
      },
      status: { capacity: resources, allocatable: resources },
    };
  });
}
