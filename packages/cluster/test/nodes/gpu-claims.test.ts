import assert from "node:assert/strict";
import { test } from "node:test";
import { gpuNodes } from "@konverge/cluster";
import { DeviceClass, ResourceClaim, ResourceSlice } from "@konverge/kinds";
import { node, onNodes } from "./virtual-nodes.ts";

test("the GPUs of simulated nodes are published with the first claim, and given to pods", () =>
  onNodes([node("plain"), ...gpuNodes("H100", 2), ...gpuNodes("L4", 1)], async (stage) => {
    const { client } = stage.cluster;
    const expression = "device.attributes['gpu.nvidia.com'].productName == 'NVIDIA-H100-80GB-HBM3'";
    const exactly = { deviceClassName: "gpu.nvidia.com", count: 2, selectors: [{ cel: { expression } }] };
    await stage.wait(
      client.create(ResourceClaim, {
        metadata: { name: "both", namespace: "default" },
        spec: { devices: { requests: [{ name: "gpus", exactly }] } },
      }),
    );
    await stage.pod("train", { resourceClaims: [{ name: "gpus", resourceClaimName: "both" }] });
    await stage.pass(60_000);
    assert.equal((await stage.get("train")).spec?.nodeName, "gpu-h100-1");
    const { status } = await stage.wait(client.get(ResourceClaim, "default/both"));
    assert.deepEqual(
      status?.allocation?.devices?.results?.map(({ driver, pool, device }) => `${driver} ${pool} ${device}`),
      ["gpu.nvidia.com gpu-h100-1 gpu-0", "gpu.nvidia.com gpu-h100-1 gpu-1"],
    );
    const slices = (await stage.wait(client.list(ResourceSlice))).items;
    assert.deepEqual(
      slices.map(({ spec }) => [spec.nodeName, spec.devices?.length]),
      [
        ["gpu-h100-1", 2],
        ["gpu-l4-1", 1],
      ],
    );
    assert.deepEqual(slices[1]!.spec.devices![0]!.capacity, { memory: { value: "23034Mi" } });
    assert.ok(await stage.wait(client.get(DeviceClass, "gpu.nvidia.com")));
  }));
