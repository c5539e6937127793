import assert from "node:assert/strict";
import { test } from "node:test";
import { DynamoComponentDeployment } from "./component-deployment.ts";
import { podTemplate } from "./component-pod.ts";
import { claimTemplateFor } from "./gpu-memory-service.ts";

const around = { image: "runtime:1.4.1", natsAddress: "", etcdAddress: "", ingressSuffix: "" };

test("a GPU memory service and its clients share the devices of one claim", () => {
  const component = DynamoComponentDeployment.new({
    metadata: { name: "g-worker", namespace: "ns" },
    spec: {
      componentType: "worker",
      resources: { limits: { gpu: "2", cpu: "4" } },
      gpuMemoryService: { enabled: true, extraClientContainers: ["saver"] },
      extraPodSpec: { containers: [{ name: "saver" }, { name: "other" }] },
    },
  }) as DynamoComponentDeployment;
  const { spec } = podTemplate(component, around);
  const [server] = spec!.initContainers!;
  const [main, saver, other] = spec!.containers;
  assert.deepEqual([server?.name, server?.image, server?.restartPolicy], ["gms-server", "runtime:1.4.1", "Always"]);
  for (const one of [server, main, saver]) {
    assert.deepEqual(one?.resources?.claims, [{ name: "intrapod-shared-gpu" }], one?.name);
    assert.ok(one?.env?.some(({ name }) => name === "GMS_SOCKET_DIR"));
  }
  assert.equal(other?.resources?.claims, undefined);
  assert.deepEqual(main?.resources?.limits, { cpu: "4" });
  assert.ok(spec?.tolerations?.some(({ key }) => key === "nvidia.com/gpu"));
  const [template] = claimTemplateFor(component);
  assert.equal(spec?.resourceClaims?.[0]?.resourceClaimTemplateName, template?.metadata.name);
  assert.deepEqual(template?.spec?.spec.devices?.requests?.[0]?.exactly, {
    deviceClassName: "gpu.nvidia.com",
    allocationMode: "ExactCount",
    count: 2,
  });
});
