import { isAlreadyExists } from "@konverge/core";
import { DeviceClass, Node, ResourceClaim, ResourceClaimTemplate, ResourceSlice } from "@konverge/kinds";
import { ownedKind } from "@konverge/runtime";
import { builtInController } from "../parts/built-in-controller.ts";
import { controllersComponent } from "../parts/part.ts";
import { isSimulated } from "../parts/simulated-node.ts";

/** The driver of simulated GPUs: it has the name, the class and the attributes of NVIDIA's. */
export const GPU_DRIVER = "gpu.nvidia.com";
const GPUS = "nvidia.com/gpu";
const PRODUCT = "nvidia.com/gpu.product";
const MEMORY = "nvidia.com/gpu.memory";

/** Publishes the GPUs of a simulated node; a real one has a driver that knows them. */
function nodeGpus() {
  return builtInController(Node, {
    name: "gpu-driver",
    owns: [ownedKind(ResourceSlice, { createOnly: true })],
    reconcile(node, { observed }) {
      const count = Number(node.status?.capacity?.[GPUS] ?? 0);
      if (count === 0 || !isSimulated(node)) return undefined;
      const { name, labels = {} } = node.metadata;
      const memory = labels[MEMORY];
      const product = labels[PRODUCT] ?? "GPU";
      const devices = Array.from({ length: count }, (_, index) => ({
        name: `gpu-${index}`,
        attributes: {
          type: { string: "gpu" },
          index: { int: index },
          productName: { string: product },
          uuid: { string: `GPU-${name}-${index}` },
        },
        ...(memory && { capacity: { memory: { value: `${memory}Mi` } } }),
      }));
      const spec = {
        driver: GPU_DRIVER,
        nodeName: name,
        pool: { name, generation: 1, resourceSliceCount: 1 },
        devices,
      };
      const slice = ResourceSlice.draft({ metadata: { name: `${name}-${GPU_DRIVER}` }, spec });
      const others = observed.all(ResourceSlice).filter(({ metadata }) => metadata.name !== slice.metadata.name);
      // Those of other drivers stay.
      return { children: [...others, slice] };
    },
  });
}

/** The DeviceClass that selects any of them. */
function gpuClass() {
  return builtInController(ResourceSlice, {
    name: "gpu-class",
    async reconcile(slice, { client }) {
      if (slice.spec.driver !== GPU_DRIVER) return undefined;
      const expression = `device.driver == '${GPU_DRIVER}' && device.attributes['${GPU_DRIVER}'].type == 'gpu'`;
      const spec = { selectors: [{ cel: { expression } }] };
      // Direct write: the class belongs to the cluster, and has no owner.
      await client.create(DeviceClass, { metadata: { name: GPU_DRIVER }, spec }).catch((error: unknown) => {
        if (!isAlreadyExists(error)) throw error;
      });
      return undefined;
    },
  });
}

/**
 * Publishes the GPUs of the simulated nodes, as a DRA driver on each of them would, once there is a ResourceClaim. They are
 * the GPUs that pods can also request as `nvidia.com/gpu`; as on a real cluster, the two are not aware of each other.
 */
export const gpuDriver = controllersComponent("gpu-driver", [ResourceClaim, ResourceClaimTemplate], () => [
  nodeGpus(),
  gpuClass(),
]);
