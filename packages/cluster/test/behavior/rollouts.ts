import assert from "node:assert/strict";
import { Deployment, Pod, ReplicaSet, ReplicationController } from "@konverge/kinds";
import {
  assertEvent,
  type Behavior,
  conditionOf,
  find,
  labelsOf,
  podsOf,
  run,
  runAllUntil,
  type Stage,
  template,
} from "./stage.ts";

function deployment({ namespace }: Stage, replicas: number, more: object = {}) {
  const selector = { matchLabels: { ...labelsOf } };
  return { metadata: { name: "web", namespace }, spec: { replicas, selector, template: template(), ...more } };
}

const setsOf = async ({ client, namespace }: Stage) =>
  (await client.list(ReplicaSet, { namespace })).items.toSorted(
    (a, b) =>
      Number(a.metadata.annotations?.["deployment.kubernetes.io/revision"]) -
      Number(b.metadata.annotations?.["deployment.kubernetes.io/revision"]),
  );

const get = ({ client, namespace }: Stage) => client.get(Deployment, `${namespace}/web`);

const allAvailable = (stage: Stage, count: number) =>
  runAllUntil(stage, `${count} pods are available and up to date`, async () => {
    const { status, metadata } = await get(stage);
    return (
      status?.availableReplicas === count &&
      status.updatedReplicas === count &&
      status.replicas === count &&
      status.observedGeneration === metadata.generation
    );
  });

const setImage = async (stage: Stage, image: string) => {
  const containers = [{ name: "main", image }];
  await stage.client.patch(Deployment, `${stage.namespace}/web`, {
    strategic: { spec: { template: { spec: { containers } } } },
  });
};

export const rollouts: Record<string, Behavior> = {
  "a Deployment makes a ReplicaSet for its template, and pods; says that it is available and has progressed": async (
    stage,
  ) => {
    await stage.client.create(Deployment, deployment(stage, 2));
    await allAvailable(stage, 2);
    const [set] = await setsOf(stage);
    const hash = set!.metadata.labels!["pod-template-hash"]!;
    assert.match(hash, /^[bcdfghjklmnpqrstvwxz2456789]{1,10}$/);
    assert.equal(set!.metadata.name, `web-${hash}`);
    assert.deepEqual(set!.metadata.annotations, {
      "deployment.kubernetes.io/desired-replicas": "2",
      "deployment.kubernetes.io/max-replicas": "3",
      "deployment.kubernetes.io/revision": "1",
    });
    for (const pod of await podsOf(stage)) {
      assert.deepEqual(pod.metadata.labels, { ...labelsOf, "pod-template-hash": hash });
      assert.equal(pod.metadata.generateName, `web-${hash}-`);
      assert.equal(pod.metadata.ownerReferences?.[0]?.uid, set!.metadata.uid);
    }
    const stored = await get(stage);
    assert.equal(stored.metadata.annotations?.["deployment.kubernetes.io/revision"], "1");
    assert.equal(conditionOf(stored, "Available"), "True MinimumReplicasAvailable");
    assert.equal(conditionOf(stored, "Progressing"), "True NewReplicaSetAvailable");
    await assertEvent(
      stage,
      "Deployment",
      "web",
      /^Normal ScalingReplicaSet Scaled up replica set web-\w+ from 0 to 2$/,
    );
    await assertEvent(stage, "ReplicaSet", set!.metadata.name, /^Normal SuccessfulCreate Created pod: web-/);
  },

  "a rolling update never goes beyond its limits, and keeps the old set for a rollback": async (stage) => {
    const strategy = { type: "RollingUpdate" as const, rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } };
    await stage.client.create(Deployment, deployment(stage, 4, { strategy }));
    await allAvailable(stage, 4);
    await setImage(stage, "web:2");
    await runAllUntil(stage, "all pods are of the new template", async () => {
      const sets = await setsOf(stage);
      const wanted = sets.reduce((sum, { spec }) => sum + (spec?.replicas ?? 0), 0);
      assert.ok(wanted <= 5, `${wanted} pods are wanted`);
      const { status, metadata } = await get(stage);
      assert.ok((status?.availableReplicas ?? 0) >= 3, `${status?.availableReplicas} pods are available`);
      return (
        status?.updatedReplicas === 4 &&
        status.replicas === 4 &&
        status.availableReplicas === 4 &&
        status.observedGeneration === metadata.generation
      );
    });
    const [old, current] = await setsOf(stage);
    assert.equal(old!.spec?.replicas, 0);
    assert.equal(current!.spec?.replicas, 4);
    await setImage(stage, "web:1");
    await allAvailable(stage, 4);
    const sets = await setsOf(stage);
    assert.equal(sets.length, 2);
    assert.equal(sets[1]!.metadata.name, old!.metadata.name);
    assert.equal(sets[1]!.metadata.annotations?.["deployment.kubernetes.io/revision"], "3");
    assert.equal(sets[1]!.metadata.annotations?.["deployment.kubernetes.io/revision-history"], "1");
    assert.equal((await get(stage)).metadata.annotations?.["deployment.kubernetes.io/revision"], "3");
  },

  "old sets beyond the history limit are deleted": async (stage) => {
    await stage.client.create(Deployment, deployment(stage, 1, { revisionHistoryLimit: 1 }));
    for (const image of ["web:1", "web:2", "web:3", "web:4"]) {
      await setImage(stage, image);
      await allAvailable(stage, 1);
    }
    await stage.until("two sets are left", async () => (await setsOf(stage)).length === 2);
    const images = (await setsOf(stage)).map(({ spec }) => spec?.template?.spec?.containers[0]?.image);
    assert.deepEqual(images, ["web:3", "web:4"]);
  },

  "Recreate stops all old pods before it starts new ones": async (stage) => {
    await stage.client.create(Deployment, deployment(stage, 2, { strategy: { type: "Recreate" } }));
    await allAvailable(stage, 2);
    await setImage(stage, "web:2");
    await runAllUntil(stage, "the new pods run", async () => {
      const images = new Set((await podsOf(stage)).map(({ spec }) => spec?.containers[0]?.image));
      assert.ok(images.size <= 1, "old and new pods run at the same time");
      return images.has("web:2") && (await get(stage)).status?.availableReplicas === 2;
    });
  },

  "a paused Deployment scales, but does not roll out until it is resumed": async (stage) => {
    await stage.client.create(Deployment, deployment(stage, 1));
    await allAvailable(stage, 1);
    await stage.client.patch(Deployment, `${stage.namespace}/web`, { merge: { spec: { paused: true } } });
    await setImage(stage, "web:2");
    await stage.client.patch(Deployment, `${stage.namespace}/web`, { merge: { spec: { replicas: 2 } } });
    await runAllUntil(stage, "it has two pods", async () => (await podsOf(stage)).length === 2);
    await stage.quiet();
    assert.equal((await setsOf(stage)).length, 1);
    assert.equal(conditionOf(await get(stage), "Progressing"), "Unknown DeploymentPaused");
    await stage.client.patch(Deployment, `${stage.namespace}/web`, { merge: { spec: { paused: false } } });
    await allAvailable(stage, 2);
    assert.equal((await setsOf(stage)).length, 2);
  },

  "a Deployment that is resized in the middle of a rollout grows in proportion": async (stage) => {
    const strategy = { type: "RollingUpdate" as const, rollingUpdate: { maxSurge: 3, maxUnavailable: 2 } };
    await stage.client.create(Deployment, deployment(stage, 10, { strategy }));
    await allAvailable(stage, 10);
    await setImage(stage, "web:2");
    const sizes = async () => (await setsOf(stage)).map(({ spec }) => spec?.replicas);
    await stage.until("the rollout is stuck half-way", async () => String(await sizes()) === "8,5");
    await stage.client.patch(Deployment, `${stage.namespace}/web`, { merge: { spec: { replicas: 15 } } });
    await stage.until("both sets have grown", async () => String(await sizes()) === "11,7");
  },

  "a rollout that does not progress in time says so": async (stage) => {
    await stage.client.create(Deployment, deployment(stage, 1, { progressDeadlineSeconds: 5 }));
    await stage.until("it has timed out", async () => {
      return conditionOf(await get(stage), "Progressing") === "False ProgressDeadlineExceeded";
    });
    const stored = await get(stage);
    assert.match(
      stored.status?.conditions?.find(({ type }) => type === "Progressing")?.message ?? "",
      /^ReplicaSet "web-\w+" has timed out progressing\.$/,
    );
    assert.equal(conditionOf(stored, "Available"), "False MinimumReplicasUnavailable");
  },

  "pods count as available only after minReadySeconds": async (stage) => {
    await stage.client.create(Deployment, deployment(stage, 1, { minReadySeconds: 4 }));
    await runAllUntil(stage, "the pod is ready", async () => (await get(stage)).status?.readyReplicas === 1);
    assert.equal((await get(stage)).status?.availableReplicas ?? 0, 0);
    await stage.until("the pod is available", async () => (await get(stage)).status?.availableReplicas === 1);
  },

  "a ReplicaSet replaces pods that are deleted or fail, and gives up the one that is missed least": async (stage) => {
    const { client, namespace } = stage;
    const spec = { replicas: 3, selector: { matchLabels: { ...labelsOf } }, template: template() };
    await client.create(ReplicaSet, { metadata: { name: "web", namespace }, spec });
    await stage.until("three pods are there", async () => (await podsOf(stage)).length === 3);
    const [first, second, third] = await podsOf(stage);
    await client.delete(Pod, `${namespace}/${first!.metadata.name}`);
    await stage.until("a new pod is there", async () => {
      const pods = await podsOf(stage);
      return pods.length === 3 && pods.every(({ metadata }) => metadata.uid !== first!.metadata.uid);
    });
    await run(stage, second!);
    await run(stage, third!);
    await client.patch(ReplicaSet, `${namespace}/web`, { merge: { spec: { replicas: 2 } } });
    await stage.until("two pods are left", async () => (await podsOf(stage)).length === 2);
    const left = (await podsOf(stage)).map(({ metadata }) => metadata.name).sort();
    assert.deepEqual(left, [second!.metadata.name, third!.metadata.name].sort());
    await assertEvent(stage, "ReplicaSet", "web", /^Normal SuccessfulDelete Deleted pod: web-/);
  },

  "a ReplicaSet adopts pods that it selects, and releases those that it does not": async (stage) => {
    const { client, namespace } = stage;
    const { spec, metadata } = template();
    const orphan = await client.create(Pod, { metadata: { ...metadata, name: "orphan", namespace }, spec });
    await client.create(ReplicaSet, {
      metadata: { name: "web", namespace },
      spec: { replicas: 1, selector: { matchLabels: { ...labelsOf } }, template: template() },
    });
    await stage.until("the orphan is adopted", async () => {
      const pod = await client.get(Pod, `${namespace}/orphan`);
      return pod.metadata.ownerReferences?.[0]?.name === "web" && pod.metadata.ownerReferences[0].controller === true;
    });
    await stage.quiet();
    assert.deepEqual(
      (await podsOf(stage)).map((pod) => pod.metadata.uid),
      [orphan.metadata.uid],
    );
    await client.patch(Pod, `${namespace}/orphan`, { merge: { metadata: { labels: { app: "other" } } } });
    await stage.until("it is released and replaced", async () => {
      const pod = await client.get(Pod, `${namespace}/orphan`);
      return !pod.metadata.ownerReferences?.length && (await podsOf(stage)).length === 2;
    });
  },

  "a ReplicationController keeps its pods": async (stage) => {
    const { client, namespace } = stage;
    const spec = { replicas: 2, selector: { ...labelsOf }, template: template() };
    await client.create(ReplicationController, { metadata: { name: "web", namespace }, spec });
    await runAllUntil(stage, "its pods are ready", async () => {
      return (await find(stage, ReplicationController, `${namespace}/web`))?.status?.readyReplicas === 2;
    });
    await client.delete(ReplicationController, `${namespace}/web`, { propagationPolicy: "Background" });
    await stage.until("its pods are gone", async () => (await podsOf(stage)).length === 0);
  },
};
