import assert from "node:assert/strict";
import { dynamoOperator, InferencePool } from "@konverge/dynamo-operator";
import { installForeignKind, type Scenario } from "@konverge/operator-suite";
import { ConfigMap, Deployment, ResourceClaimTemplate, Service } from "konverge/kinds";
import { successful } from "./scenarios.ts";

const picked = (weight: number) => `
apiVersion: nvidia.com/v1beta1
kind: DynamoGraphDeployment
metadata:
  name: picked
spec:
  backendFramework: vllm
  components:
    - name: Epp
      type: epp
      eppConfig:
        config:
          plugins: [{type: queue-scorer}]
          schedulingProfiles: [{name: default, plugins: [{pluginRef: queue-scorer, weight: ${weight}}]}]
      podTemplate:
        spec:
          containers: [{name: main, image: "picker:1.4.1"}]
    - name: Decode
      type: decode
      modelRef: {name: chat/small-8b}
      frontendSidecar: sidecar
      podTemplate:
        spec:
          containers:
            - name: main
              image: "runtime:1.4.1"
              command: [python3]
              args: [-m, dynamo.vllm, --model, chat/small-8b]
            - name: sidecar
              image: "runtime:1.4.1"
`;

/** A graph of v1beta1 whose endpoint picker gateways ask: its pool, its configuration, and the model's own Service. */
export const picker: Scenario = async (stage) => {
  await installForeignKind(stage, InferencePool);
  await stage.start(dynamoOperator);
  await stage.apply(picked(1));
  await successful(stage, "picked");
  await stage.until("there is a pool", async () => (await stage.find(InferencePool, "picked-pool")) !== undefined);
  const pool = (await stage.get(InferencePool, "picked-pool")) as InferencePool;
  assert.equal(pool.spec.endpointPickerRef.name, "picked-epp");
  const [model] = await stage.list(Service, "nvidia.com/dynamo-base-model-hash");
  assert.deepEqual(
    [model?.spec?.clusterIP, model?.metadata.annotations?.["nvidia.com/dynamo-base-model"]],
    ["None", "chat/small-8b"],
  );
  const decode = await stage.get(Deployment, "picked-decode");
  const [main, sidecar] = decode.spec!.template.spec!.containers;
  assert.deepEqual([main?.ports?.[0]?.name, sidecar?.ports?.[0]?.name], ["system", "http"]);
  assert.equal(decode.spec?.template.metadata?.labels?.["nvidia.com/dynamo-component-type"], "decode");
  assert.equal(decode.spec?.template.spec?.serviceAccountName, "picked-k8s-service-discovery");
  await stage.apply(picked(2));
  await stage.client.patch(InferencePool, `${stage.namespace}/picked-pool`, {
    merge: { spec: { targetPorts: [{ number: 1 }] } },
  });
  await stage.until("the configuration follows, and the pool is repaired", async () => {
    const config = await stage.get(ConfigMap, "picked-epp-config");
    const { spec } = (await stage.get(InferencePool, "picked-pool")) as InferencePool;
    const text = config.data?.["epp-config-dynamo.yaml"] ?? "";
    return text.includes('"weight":2') && spec.targetPorts[0]?.number === 8000;
  });
};

/** A GPU memory service: the devices are a claim of each pod. */
export const memoryService: Scenario = async (stage) => {
  await stage.start(dynamoOperator);
  const graphOf = (gpus: number) => `
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata:
  name: shared
spec:
  services:
    Worker:
      componentType: worker
      gpuMemoryService: {enabled: true}
      resources: {limits: {gpu: "${gpus}"}}
`;
  const counts = async () =>
    (await stage.list(ResourceClaimTemplate)).map(({ spec }) => spec.spec.devices?.requests?.[0]?.exactly?.count);
  await stage.apply(graphOf(2));
  await stage.until("its claim has two devices", async () => String(await counts()) === "2");
  await stage.apply(graphOf(4));
  await stage.until("another claim has four", async () => String(await counts()) === "4");
  const [template] = await stage.list(ResourceClaimTemplate);
  await stage.client.patch(ResourceClaimTemplate, `${stage.namespace}/${template!.metadata.name}`, {
    merge: { metadata: { labels: { "nvidia.com/dynamo-component": "other" } } },
  });
  await stage.until("its labels are repaired", async () => {
    const [{ metadata } = { metadata: undefined }] = await stage.list(ResourceClaimTemplate);
    return metadata?.labels?.["nvidia.com/dynamo-component"] === "Worker";
  });
};
