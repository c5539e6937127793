import assert from "node:assert/strict";
import { isForbidden, keyOf } from "@konverge/core";
import {
  Deployment,
  Namespace,
  Node,
  Pod,
  PodDisruptionBudget,
  PriorityClass,
  ReplicaSet,
  ResourceQuota,
} from "@konverge/kinds";
import { makeNodes, type Placed, placed } from "./placed.ts";
import { assertEvent, type Behavior, conditionOf, find, labelsOf, podsOf, type Stage } from "./stage.ts";

async function makePod(stage: Stage, name: string, pod: Placed = {}, labels: Record<string, string> = labelsOf) {
  const { metadata, spec } = placed(stage, pod);
  return stage.client.create(Pod, { metadata: { ...metadata, labels, name, namespace: stage.namespace }, spec });
}

const get = ({ client, namespace }: Stage, name: string) => client.get(Pod, `${namespace}/${name}`);
const messageOf = async (stage: Stage, name: string) =>
  (await get(stage, name)).status?.conditions?.find(({ type }) => type === "PodScheduled")?.message ?? "";
const runs = (stage: Stage, name: string) =>
  stage.until(`${name} runs`, async () => conditionOf(await get(stage, name), "Ready")?.split(" ")[0] === "True");
const isRefused = (stage: Stage, name: string) =>
  stage.until(`${name} is unschedulable`, async () => {
    return conditionOf(await get(stage, name), "PodScheduled") === "False Unschedulable";
  });

const selector = { matchLabels: { ...labelsOf } };

async function replicas(stage: Stage, count: number, pod: Placed = {}): Promise<void> {
  await stage.client.create(ReplicaSet, {
    metadata: { name: "web", namespace: stage.namespace },
    spec: { replicas: count, selector, template: placed(stage, pod) },
  });
  await stage.until("all are ready", async () => {
    return (await stage.client.get(ReplicaSet, `${stage.namespace}/web`)).status?.readyReplicas === count;
  });
}

/** The part of the scheduler's message about the nodes of this test: those of other tests are all tainted. */
const own = (message: string) =>
  message
    .replace(/^0\/\d+ nodes are available: /, "")
    .replace(/\. .*$/, "")
    .split(", ")
    .filter((part) => !/untolerated taint|were unschedulable|didn't match Pod's node affinity/.test(part));

export const placedScheduling: Record<string, Behavior> = {
  "a pod for which there is no room waits and says why, and is placed when room comes free": async (stage) => {
    const { client, namespace } = stage;
    await makeNodes(stage, 2, { cpu: "2" });
    await makePod(stage, "a", { requests: { cpu: "1500m" } });
    await makePod(stage, "b", { requests: { cpu: "1500m" } });
    await runs(stage, "a");
    await runs(stage, "b");
    assert.notEqual((await get(stage, "a")).spec?.nodeName, (await get(stage, "b")).spec?.nodeName);
    await makePod(stage, "c", { requests: { cpu: "1" } });
    await isRefused(stage, "c");
    assert.deepEqual(own(await messageOf(stage, "c")), ["2 Insufficient cpu"]);
    await assertEvent(stage, "Pod", "c", /^Warning FailedScheduling 0\/\d+ nodes are available: .*2 Insufficient cpu/);
    await client.delete(Pod, `${namespace}/a`);
    await runs(stage, "c");
  },

  "a pod that matters more makes another go, but none that a budget protects": async (stage) => {
    const { client, namespace } = stage;
    const high = `${namespace}-high`;
    await makeNodes(stage, 2, { cpu: "2" });
    await client.create(PriorityClass, { metadata: { name: high }, value: 1000 } as never);
    await makePod(stage, "kept", { requests: { cpu: "1500m" } }, { app: "kept" });
    await makePod(stage, "loser", { requests: { cpu: "1500m" } }, { app: "loser" });
    await runs(stage, "kept");
    await runs(stage, "loser");
    await client.create(PodDisruptionBudget, {
      metadata: { name: "kept", namespace },
      spec: { minAvailable: 1, selector: { matchLabels: { app: "kept" } } },
    });
    await stage.until("the budget counts", async () => {
      return (await client.get(PodDisruptionBudget, `${namespace}/kept`)).status?.currentHealthy === 1;
    });
    const place = (await get(stage, "loser")).spec?.nodeName;
    await makePod(stage, "winner", { requests: { cpu: "1" }, spec: { priorityClassName: high } });
    await runs(stage, "winner");
    assert.equal((await get(stage, "winner")).spec?.nodeName, place);
    assert.equal(await find(stage, Pod, `${namespace}/loser`), undefined);
    assert.equal((await get(stage, "kept")).metadata.deletionTimestamp, undefined);
    await assertEvent(stage, "Pod", "loser", /^Normal Preempted Preempted by pod [0-9a-f-]{36} on node /);
  },

  "a pod that may not preempt waits": async (stage) => {
    const { client, namespace } = stage;
    const polite = `${namespace}-polite`;
    await makeNodes(stage, 1, { cpu: "1" });
    await client.create(PriorityClass, { metadata: { name: polite }, value: 10, preemptionPolicy: "Never" } as never);
    await makePod(stage, "there", { requests: { cpu: "1" } });
    await runs(stage, "there");
    await makePod(stage, "waits", { requests: { cpu: "1" }, spec: { priorityClassName: polite } });
    await isRefused(stage, "waits");
    await stage.quiet();
    assert.equal((await get(stage, "there")).metadata.deletionTimestamp, undefined);
    assert.match(await messageOf(stage, "waits"), /1 Insufficient cpu.*not eligible due to preemptionPolicy=Never\.$/);
  },

  "pods are spread over zones as evenly as asked": async (stage) => {
    await makeNodes(stage, 3, {}, (index) => ({ zone: index < 2 ? "a" : "b" }));
    const topologySpreadConstraints = [
      { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule", labelSelector: selector },
    ];
    await replicas(stage, 4, { spec: { topologySpreadConstraints } });
    const places = (await podsOf(stage)).map(({ spec }) => spec?.nodeName ?? "");
    assert.equal(places.filter((place) => place.endsWith("-2")).length, 2);
  },

  "pods that repel each other get a node each, and the one too many waits": async (stage) => {
    await makeNodes(stage, 2);
    const podAntiAffinity = {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey: "kubernetes.io/hostname", labelSelector: selector },
      ],
    };
    await replicas(stage, 2, { spec: { affinity: { podAntiAffinity } } });
    assert.equal(new Set((await podsOf(stage)).map(({ spec }) => spec?.nodeName)).size, 2);
    await makePod(stage, "third", { spec: { affinity: { podAntiAffinity } } }, { app: "other" });
    await isRefused(stage, "third");
    assert.deepEqual(own(await messageOf(stage, "third")), ["2 node(s) didn't match pod anti-affinity rules"]);
  },

  "a pod goes where it wants to be, and to a node that it prefers": async (stage) => {
    const { namespace } = stage;
    await makeNodes(stage, 3, {}, (index) => ({
      disk: index === 1 ? "ssd" : "hdd",
      tier: index === 2 ? "gold" : "tin",
    }));
    const matchExpressions = [{ key: "disk", operator: "In", values: ["hdd"] }];
    const preference = { matchExpressions: [{ key: "tier", operator: "In", values: ["gold"] }] };
    const nodeAffinity = {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] },
      preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, preference }],
    };
    await makePod(stage, "picky", { spec: { affinity: { nodeAffinity } } });
    await runs(stage, "picky");
    assert.equal((await get(stage, "picky")).spec?.nodeName, `${namespace}-2`);
  },

  "a cordoned node takes no new pods and keeps its own": async (stage) => {
    const { client } = stage;
    const [only] = await makeNodes(stage, 1);
    await makePod(stage, "old");
    await runs(stage, "old");
    await client.patch(Node, only!, { merge: { spec: { unschedulable: true } } });
    await stage.until(
      "the node has both taints",
      async () => (await client.get(Node, only!)).spec?.taints?.length === 2,
    );
    await stage.quiet();
    await makePod(stage, "new");
    await isRefused(stage, "new");
    assert.match(await messageOf(stage, "new"), /1 node\(s\) (were unschedulable|had untolerated taint)/);
    await client.patch(Node, only!, { merge: { spec: { unschedulable: null } } });
    await runs(stage, "new");
    assert.equal((await get(stage, "old")).status?.phase, "Running");
  },

  "pods leave a node with a taint that they do not tolerate, and come up elsewhere": async (stage) => {
    const { client, namespace } = stage;
    const [first, second] = await makeNodes(stage, 2);
    await client.create(Deployment, {
      metadata: { name: "web", namespace },
      spec: { replicas: 2, selector, template: placed(stage, { spec: { nodeSelector: { stage: namespace } } }) },
    });
    const ready = async () => (await client.get(Deployment, `${namespace}/web`)).status?.readyReplicas === 2;
    await stage.until("both are ready", ready);
    const { taints = [] } = (await client.get(Node, first!)).spec ?? {};
    const broken = { key: "example.com/broken", effect: "NoExecute" as const };
    await client.patch(Node, first!, { merge: { spec: { taints: [...taints, broken] } } });
    await stage.until("both are on the other node", async () => {
      const pods = (await client.list(Pod, { namespace })).items;
      return (await ready()) && pods.length === 2 && pods.every(({ spec }) => spec?.nodeName === second);
    });
  },

  "a budget blocks evictions, and allows them once a replacement is ready": async (stage) => {
    const { client, namespace } = stage;
    await makeNodes(stage, 2);
    await replicas(stage, 2);
    await client.create(PodDisruptionBudget, {
      metadata: { name: "web", namespace },
      spec: { minAvailable: 2, selector },
    });
    const budget = () => client.get(PodDisruptionBudget, `${namespace}/web`);
    await stage.until("the budget counts", async () => (await budget()).status?.currentHealthy === 2);
    const [pod] = await podsOf(stage);
    const refused = await client.evict(keyOf(pod!)).then(
      () => undefined,
      (error: unknown) => error as { code: number; message: string },
    );
    assert.equal(refused?.code, 429);
    assert.match(refused?.message ?? "", /^Cannot evict pod as it would violate the pod's disruption budget\.$/);
    await client.patch(PodDisruptionBudget, `${namespace}/web`, { merge: { spec: { minAvailable: 1 } } });
    await stage.until("one may go", async () => (await budget()).status?.disruptionsAllowed === 1);
    await client.evict(keyOf(pod!));
    await stage.until("it is gone", async () => {
      const found = await find(stage, Pod, keyOf(pod!));
      return found?.metadata.uid !== pod!.metadata.uid;
    });
    await stage.until("there are two again", async () => (await budget()).status?.disruptionsAllowed === 1);
  },

  "a quota keeps pods out beyond its limits, and lets them in when others end": async (stage) => {
    const { client, namespace } = stage;
    await makeNodes(stage, 1);
    await client.create(ResourceQuota, {
      metadata: { name: "limits", namespace },
      spec: { hard: { pods: "2", "requests.cpu": "1" } },
    });
    const used = async () => (await client.get(ResourceQuota, `${namespace}/limits`)).status?.used ?? {};
    await stage.until("the quota counts", async () => (await used())["pods"] === "0");
    await makePod(stage, "a", {
      requests: { cpu: "600m" },
      sim: { "run-duration": "10s" },
      spec: { restartPolicy: "Never" },
    });
    const refused = await makePod(stage, "b", { requests: { cpu: "600m" } }).then(
      () => undefined,
      (error: unknown) => error as Error,
    );
    assert.ok(isForbidden(refused));
    assert.equal(
      refused?.message,
      'pods "b" is forbidden: exceeded quota: limits, requested: requests.cpu=600m, used: requests.cpu=600m, limited: requests.cpu=1',
    );
    await stage.until("the first has ended", async () => (await get(stage, "a")).status?.phase === "Succeeded");
    await stage.until("it no longer counts", async () => (await used())["requests.cpu"] === "0");
    await makePod(stage, "b", { requests: { cpu: "600m" } });
    await runs(stage, "b");
  },

  "foreground deletion waits for running pods, orphans go on running": async (stage) => {
    const { client, namespace } = stage;
    await makeNodes(stage, 1);
    await replicas(stage, 2);
    await client.delete(ReplicaSet, `${namespace}/web`, { propagationPolicy: "Orphan" });
    await stage.until("the set is gone", async () => !(await find(stage, ReplicaSet, `${namespace}/web`)));
    for (const { status, metadata } of await podsOf(stage)) {
      assert.equal(status?.phase, "Running");
      assert.equal(metadata.ownerReferences, undefined);
    }
    await replicas(stage, 2);
    assert.equal((await podsOf(stage)).length, 2, "the orphans are adopted");
    await client.delete(ReplicaSet, `${namespace}/web`, { propagationPolicy: "Foreground" });
    await stage.until("all is gone", async () => {
      const pods = (await client.list(Pod, { namespace })).items;
      const set = await find(stage, ReplicaSet, `${namespace}/web`);
      if (pods.length > 0) assert.ok(set, "the owner went before its pods");
      return !set && pods.length === 0;
    });
  },

  "a namespace takes its running pods along": async (stage) => {
    const { client, namespace } = stage;
    await makeNodes(stage, 1);
    const name = `${namespace}-other`;
    await client.create(Namespace, { metadata: { name } });
    const elsewhere = { ...stage, namespace: name };
    const { metadata, spec } = placed(stage);
    await stage.until("the account is there", async () => {
      return client.create(Pod, { metadata: { ...metadata, name: "web", namespace: name }, spec }).then(
        () => true,
        () => false,
      );
    });
    await stage.until("the pod runs", async () => (await get(elsewhere, "web")).status?.phase === "Running");
    await client.delete(Namespace, name);
    await stage.until("it is gone", async () => !(await find(stage, Namespace, name)));
    assert.equal((await client.list(Pod, { namespace: name })).items.length, 0);
  },
};
