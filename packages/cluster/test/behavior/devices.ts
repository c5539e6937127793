import assert from "node:assert/strict";
import { DeviceClass, Pod, ResourceClaim, ResourceClaimTemplate, ResourceSlice } from "@konverge/kinds";
import { makeNodes, placed, type SimulatedBehavior } from "./placed.ts";
import { assertEvent, type Behavior, conditionOf, find, type Stage } from "./stage.ts";

export const DRIVER = "gpu.example.com";
export const ATTRIBUTES = `device.attributes["${DRIVER}"]`;

/** Nodes with two devices each, of the model A on the first node and B on the others. */
async function makeDevices(stage: Stage, nodes: number): Promise<void> {
  const { client, namespace } = stage;
  const names = await makeNodes(stage, nodes);
  for (const [index, nodeName] of names.entries()) {
    const devices = [0, 1].map((number) => ({
      name: `gpu-${number}`,
      attributes: { model: { string: index === 0 ? "A" : "B" }, numa: { int: number } },
      capacity: { memory: { value: index === 0 ? "24Gi" : "80Gi" } },
    }));
    const pool = { name: nodeName, generation: 1, resourceSliceCount: 1 };
    await client.create(ResourceSlice, {
      metadata: { name: `${nodeName}-gpus` },
      spec: { driver: DRIVER, nodeName, pool, devices },
    });
  }
  const expression = `device.driver == "${DRIVER}"`;
  await client.create(DeviceClass, { metadata: { name: namespace }, spec: { selectors: [{ cel: { expression } }] } });
}

const request = ({ namespace }: Stage, more: object = {}) => ({
  devices: { requests: [{ name: "gpu", exactly: { deviceClassName: namespace, ...more } }] },
});

export const template = (stage: Stage, more: object = {}) =>
  stage.client.create(ResourceClaimTemplate, {
    metadata: { name: "gpus", namespace: stage.namespace },
    spec: { metadata: { labels: { from: "template" } }, spec: request(stage, more) },
  });

const claim = (stage: Stage, more: object = {}) =>
  stage.client.create(ResourceClaim, {
    metadata: { name: "shared", namespace: stage.namespace },
    spec: request(stage, more),
  });

export async function makePod(stage: Stage, name: string, from: object, sim: SimulatedBehavior = {}): Promise<void> {
  const resourceClaims = [{ name: "gpu", ...from }];
  const { metadata, spec } = placed(stage, { sim, spec: { resourceClaims, restartPolicy: "Never" } });
  const containers = spec.containers.map((one) => ({ ...one, resources: { claims: [{ name: "gpu" }] } }));
  await stage.client.create(Pod, {
    metadata: { ...metadata, name, namespace: stage.namespace },
    spec: { ...spec, containers },
  });
}

export const BY_TEMPLATE = { resourceClaimTemplateName: "gpus" };
const SHARED = { resourceClaimName: "shared" };

const get = ({ client, namespace }: Stage, name: string) => client.get(Pod, `${namespace}/${name}`);
export const runs = (stage: Stage, name: string) =>
  stage.until(`${name} runs`, async () => conditionOf(await get(stage, name), "Ready")?.split(" ")[0] === "True");
export const claimsOf = async ({ client, namespace }: Stage) => (await client.list(ResourceClaim, { namespace })).items;
const getShared = ({ client, namespace }: Stage) => client.get(ResourceClaim, `${namespace}/shared`);

export const waits = (stage: Stage, name: string, why: RegExp) =>
  stage.until(`${name} waits because of ${why}`, async () => {
    const { conditions } = (await get(stage, name)).status ?? {};
    return why.test(conditions?.find(({ type }) => type === "PodScheduled")?.message ?? "");
  });

export const devices: Record<string, Behavior> = {
  "a pod gets a claim made by its template, the devices that it asks for, and gives them back": async (stage) => {
    const { client, namespace } = stage;
    await makeDevices(stage, 2);
    await template(stage, { selectors: [{ cel: { expression: `${ATTRIBUTES}.model == "B"` } }] });
    await makePod(stage, "app", BY_TEMPLATE);
    await runs(stage, "app");
    const pod = await get(stage, "app");
    assert.equal(pod.spec?.nodeName, `${namespace}-1`);
    const [made] = await claimsOf(stage);
    assert.match(made!.metadata.name, /^app-gpu-/);
    assert.deepEqual(pod.status?.resourceClaimStatuses, [{ name: "gpu", resourceClaimName: made!.metadata.name }]);
    assert.deepEqual(made!.metadata.labels, { from: "template" });
    assert.equal(made!.metadata.annotations?.["resource.kubernetes.io/pod-claim-name"], "gpu");
    assert.equal(made!.metadata.ownerReferences?.[0]?.uid, pod.metadata.uid);
    assert.deepEqual(made!.metadata.finalizers, ["resource.kubernetes.io/delete-protection"]);
    const { allocation, reservedFor } = made!.status!;
    assert.deepEqual(reservedFor, [{ resource: "pods", name: "app", uid: pod.metadata.uid }]);
    const [result] = allocation!.devices!.results!;
    assert.deepEqual([result!.request, result!.driver, result!.pool], ["gpu", DRIVER, `${namespace}-1`]);
    assert.deepEqual(allocation!.nodeSelector?.nodeSelectorTerms[0]?.matchFields, [
      { key: "metadata.name", operator: "In", values: [`${namespace}-1`] },
    ]);
    await client.delete(Pod, `${namespace}/app`);
    await stage.until("the claim is gone", async () => (await claimsOf(stage)).length === 0);
  },

  "a pod for which there are no devices left waits, until a pod that has some ends": async (stage) => {
    await makeDevices(stage, 1);
    await template(stage, { count: 2 });
    await makePod(stage, "first", BY_TEMPLATE, { "run-duration": "3s" });
    await runs(stage, "first");
    await makePod(stage, "second", BY_TEMPLATE);
    await waits(stage, "second", /1 cannot allocate all claims.*still not schedulable, preemption: /);
    await runs(stage, "second");
    assert.equal((await get(stage, "first")).status?.phase, "Succeeded");
    await stage.until("the first claim is gone", async () => (await claimsOf(stage)).length === 1);
  },

  "pods share the devices of a claim that they name, on the node where those are": async (stage) => {
    const { client, namespace } = stage;
    await makeDevices(stage, 2);
    await claim(stage, {
      selectors: [{ cel: { expression: `device.capacity["${DRIVER}"].memory.compareTo(quantity("40Gi")) > 0` } }],
    });
    await makePod(stage, "one", SHARED);
    await makePod(stage, "two", SHARED);
    await runs(stage, "one");
    await runs(stage, "two");
    const places = [await get(stage, "one"), await get(stage, "two")].map(({ spec }) => spec?.nodeName);
    assert.deepEqual(places, [`${namespace}-1`, `${namespace}-1`]);
    assert.equal((await getShared(stage)).status?.reservedFor?.length, 2);
    await client.delete(Pod, `${namespace}/one`);
    await stage.until("one is left", async () => (await getShared(stage)).status?.reservedFor?.length === 1);
    assert.ok((await getShared(stage)).status?.allocation);
    await client.delete(Pod, `${namespace}/two`);
    await stage.until("the devices are free", async () => (await getShared(stage)).status?.allocation === undefined);
    // The controller removes it in a second request.
    await stage.until("the claim may go", async () => (await getShared(stage)).metadata.finalizers === undefined);
  },

  "a claim in use is not deleted before its pod": async (stage) => {
    const { client, namespace } = stage;
    await makeDevices(stage, 1);
    await claim(stage);
    await makePod(stage, "app", SHARED);
    await runs(stage, "app");
    await client.delete(ResourceClaim, `${namespace}/shared`);
    await stage.quiet();
    assert.ok((await getShared(stage)).metadata.deletionTimestamp);
    await client.delete(Pod, `${namespace}/app`);
    await stage.until("it is gone", async () => !(await find(stage, ResourceClaim, `${namespace}/shared`)));
  },

  "a claim of a class that does not exist waits for it": async (stage) => {
    const { client, namespace } = stage;
    await makeDevices(stage, 1);
    await claim(stage, { deviceClassName: `${namespace}-later` });
    await makePod(stage, "app", SHARED);
    await waits(stage, "app", /: request gpu: device class \S+-later does not exist\. /);
    await client.create(DeviceClass, { metadata: { name: `${namespace}-later` }, spec: {} });
    await runs(stage, "app");
  },

  "a pod whose template is missing says so, and goes on when it comes": async (stage) => {
    await makeDevices(stage, 1);
    await makePod(stage, "app", BY_TEMPLATE);
    await assertEvent(
      stage,
      "Pod",
      "app",
      /^Warning FailedResourceClaimCreation PodResourceClaim gpu: resource claim template "gpus": resourceclaimtemplate.resource.k8s.io "gpus" not found$/,
    );
    await template(stage);
    await runs(stage, "app");
  },

  "the first that is available is taken, and devices can be made to match": async (stage) => {
    const { client, namespace } = stage;
    await makeDevices(stage, 2);
    const selectors = (model: string) => [{ cel: { expression: `${ATTRIBUTES}.model == "${model}"` } }];
    const deviceClassName = namespace;
    const firstAvailable = [
      { name: "best", deviceClassName, count: 3, selectors: selectors("B") },
      { name: "good", deviceClassName, count: 2, selectors: selectors("A") },
    ];
    const constraints = [{ requests: ["gpu"], matchAttribute: `${DRIVER}/model` }];
    await client.create(ResourceClaim, {
      metadata: { name: "shared", namespace },
      spec: { devices: { requests: [{ name: "gpu", firstAvailable }], constraints } },
    });
    await makePod(stage, "app", SHARED);
    await runs(stage, "app");
    const { results } = (await getShared(stage)).status!.allocation!.devices!;
    assert.deepEqual(
      results!.map(({ request: of, device }) => `${of} ${device}`),
      ["gpu/good gpu-0", "gpu/good gpu-1"],
    );
  },
};
