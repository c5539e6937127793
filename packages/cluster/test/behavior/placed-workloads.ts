import assert from "node:assert/strict";
import { keyOf } from "@konverge/core";
import { DaemonSet, Deployment, PersistentVolumeClaim, Pod, ReplicaSet, StatefulSet } from "@konverge/kinds";
import { makeNodes, type Placed, placed } from "./placed.ts";
import { assertEvent, type Behavior, conditionOf, find, labelsOf, podsOf, type Stage } from "./stage.ts";

const selector = { matchLabels: { ...labelsOf } };

const deployment = (stage: Stage, replicas: number, pod: Placed = {}, more: object = {}) => ({
  metadata: { name: "web", namespace: stage.namespace },
  spec: { replicas, selector, template: placed(stage, pod), ...more },
});

const get = ({ client, namespace }: Stage) => client.get(Deployment, `${namespace}/web`);

const rolledOut = (stage: Stage, count: number) =>
  stage.until(`${count} pods are available and up to date`, async () => {
    const { status, metadata } = await get(stage);
    return (
      status?.observedGeneration === metadata.generation &&
      (status?.availableReplicas ?? 0) === count &&
      (status?.updatedReplicas ?? 0) === count &&
      (status?.replicas ?? 0) === count
    );
  });

/** Exchanges the pod template. */
async function change(stage: Stage, pod: Placed): Promise<void> {
  const { client, namespace } = stage;
  const template = placed(stage, pod);
  const annotations = { "sim.konverge.dev/ready": null, ...template.metadata.annotations };
  const merge = { spec: { template: { ...template, metadata: { ...template.metadata, annotations } } } } as never;
  await client.patch(Deployment, `${namespace}/web`, { merge });
}

const images = async (stage: Stage) => (await podsOf(stage)).map(({ spec }) => spec?.containers[0]?.image).sort();
const placesOf = async (stage: Stage) => (await podsOf(stage)).map(({ spec }) => spec?.nodeName).sort();

const setNamed = ({ client, namespace }: Stage) => client.get(StatefulSet, `${namespace}/db`);
const daemonsOf = ({ client, namespace }: Stage) => client.get(DaemonSet, `${namespace}/agent`);
const podNamed = (stage: Stage, name: string) => find(stage, Pod, `${stage.namespace}/${name}`);

function statefulSet(stage: Stage, replicas: number, more: object = {}) {
  return {
    metadata: { name: "db", namespace: stage.namespace },
    spec: { replicas, serviceName: "db", selector, template: placed(stage), ...more },
  };
}

function daemonSet(stage: Stage, more: object = {}) {
  return {
    metadata: { name: "agent", namespace: stage.namespace },
    spec: { selector, template: placed(stage, { image: "agent:1" }), ...more },
  };
}

const daemonsReady = (stage: Stage, count: number) =>
  stage.until(`${count} daemons are up to date and available`, async () => {
    const { status, metadata } = await daemonsOf(stage);
    return (
      status?.observedGeneration === metadata.generation &&
      status?.updatedNumberScheduled === count &&
      status?.numberAvailable === count
    );
  });

export const placedWorkloads: Record<string, Behavior> = {
  "a Deployment's pods are scheduled and become ready; it grows, shrinks and stops": async (stage) => {
    const { client, namespace } = stage;
    await makeNodes(stage, 2);
    await client.create(Deployment, deployment(stage, 2));
    await rolledOut(stage, 2);
    assert.deepEqual(await placesOf(stage), [`${namespace}-0`, `${namespace}-1`]);
    for (const pod of await podsOf(stage)) {
      assert.equal(pod.status?.phase, "Running");
      assert.equal(conditionOf(pod, "PodScheduled")?.split(" ")[0], "True");
      assert.ok(pod.status?.podIP);
      await assertEvent(stage, "Pod", pod.metadata.name, /^Normal Scheduled Successfully assigned /);
    }
    for (const count of [5, 1, 0]) {
      await client.scale(Deployment, `${namespace}/web`, count);
      await rolledOut(stage, count);
      await stage.until(`${count} pods are left`, async () => {
        return (await client.list(Pod, { namespace })).items.length === count;
      });
    }
  },

  "a rolling update keeps enough pods available while new ones become ready": async (stage) => {
    await makeNodes(stage, 2);
    const strategy = { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } };
    await stage.client.create(Deployment, deployment(stage, 4, {}, { strategy }));
    await rolledOut(stage, 4);
    await change(stage, { image: "web:2", sim: { "ready-delay": "1s" } });
    await stage.until("all pods are new", async () => {
      const { status, metadata } = await get(stage);
      assert.ok((status?.availableReplicas ?? 0) >= 3, `only ${status?.availableReplicas} pods are available`);
      const sets = (await stage.client.list(ReplicaSet, { namespace: stage.namespace })).items;
      const wanted = sets.reduce((sum, { spec }) => sum + (spec?.replicas ?? 0), 0);
      assert.ok(wanted <= 5, `${wanted} pods are wanted`);
      return (
        status?.updatedReplicas === 4 && status.replicas === 4 && status.observedGeneration === metadata.generation
      );
    });
    await rolledOut(stage, 4);
    await stage.until("the old pods are gone", async () => String(await images(stage)) === "web:2,web:2,web:2,web:2");
  },

  "a rollout whose pods never become ready is stuck, says so and can be taken back": async (stage) => {
    await makeNodes(stage, 1);
    const strategy = { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
    await stage.client.create(Deployment, deployment(stage, 2, {}, { strategy, progressDeadlineSeconds: 4 }));
    await rolledOut(stage, 2);
    await change(stage, { image: "web:2", sim: { ready: "false" } });
    await stage.until("it has timed out", async () => {
      return conditionOf(await get(stage), "Progressing") === "False ProgressDeadlineExceeded";
    });
    assert.equal((await get(stage)).status?.availableReplicas, 2);
    assert.equal((await get(stage)).status?.unavailableReplicas, 1);
    assert.equal(conditionOf(await get(stage), "Available"), "True MinimumReplicasAvailable");
    await change(stage, { image: "web:1" });
    await rolledOut(stage, 2);
    await stage.until("it progresses again", async () => {
      return conditionOf(await get(stage), "Progressing") === "True NewReplicaSetAvailable";
    });
    await stage.until("the bad pods are gone", async () => String(await images(stage)) === "web:1,web:1");
  },

  "a pod that fails is replaced by its ReplicaSet, and remains to be looked at": async (stage) => {
    const { client, namespace } = stage;
    await makeNodes(stage, 1);
    await client.create(ReplicaSet, {
      metadata: { name: "web", namespace },
      spec: { replicas: 1, selector, template: placed(stage) },
    });
    const ready = async () => (await client.get(ReplicaSet, `${namespace}/web`)).status?.readyReplicas === 1;
    await stage.until("it is ready", ready);
    const [first] = await podsOf(stage);
    const status = { phase: "Failed" as const, reason: "Evicted", message: "The node was low on resource: memory." };
    await client.patchStatus(Pod, keyOf(first!), { merge: { status } });
    await stage.until("there is another", async () => (await podsOf(stage)).length === 2 && (await ready()));
    assert.equal((await client.get(Pod, keyOf(first!))).status?.phase, "Failed");
    await client.scale(ReplicaSet, `${namespace}/web`, 0);
    await stage.until("the other has gone", async () => {
      return (await podsOf(stage)).every(({ status: now }) => now?.phase === "Failed");
    });
  },

  "a StatefulSet starts in order, waits for each, updates from the last down to its partition": async (stage) => {
    const { client, namespace } = stage;
    await makeNodes(stage, 1);
    const delayed = { template: placed(stage, { sim: { "ready-delay": "1s" } }) };
    await client.create(StatefulSet, statefulSet(stage, 3, delayed));
    await stage.until("all are ready", async () => {
      const pods = await podsOf(stage);
      const isReady = (name: string) =>
        conditionOf(
          pods.find(({ metadata }) => metadata.name === name),
          "Ready",
        )?.startsWith("True");
      for (const [name, before] of [
        ["db-1", "db-0"],
        ["db-2", "db-1"],
      ] as const) {
        if (pods.some(({ metadata }) => metadata.name === name)) assert.ok(isReady(before), `${name} came too early`);
      }
      return (await setNamed(stage)).status?.readyReplicas === 3;
    });
    const updateStrategy = { type: "RollingUpdate", rollingUpdate: { partition: 1 } };
    const containers = [{ name: "main", image: "web:2" }];
    await client.patch(StatefulSet, `${namespace}/db`, {
      strategic: { spec: { updateStrategy, template: { spec: { containers } } } } as never,
    });
    const imageOf = async (name: string) => (await podNamed(stage, name))?.spec?.containers[0]?.image;
    await stage.until("those beyond the partition are new", async () => {
      const { status, metadata } = await setNamed(stage);
      const isSettled = status?.readyReplicas === 3 && status.observedGeneration === metadata.generation;
      return isSettled && status.updatedReplicas === 2 && (await imageOf("db-1")) === "web:2";
    });
    assert.equal(await imageOf("db-2"), "web:2");
    assert.equal(await imageOf("db-0"), "web:1");
    await client.patch(StatefulSet, `${namespace}/db`, {
      merge: { spec: { updateStrategy: { rollingUpdate: { partition: 0 } } } } as never,
    });
    await stage.until("all are new", async () => {
      const { status } = await setNamed(stage);
      return status?.updatedReplicas === 3 && status.readyReplicas === 3 && (await imageOf("db-0")) === "web:2";
    });
    const { status } = await setNamed(stage);
    assert.equal(status?.currentRevision, status?.updateRevision);
    await client.scale(StatefulSet, `${namespace}/db`, 1);
    await stage.until("the first is left", async () => {
      const names = (await client.list(Pod, { namespace })).items.map(({ metadata }) => metadata.name);
      return String(names) === "db-0";
    });
  },

  "a StatefulSet's claims go when it shrinks or is deleted, if its policy says so": async (stage) => {
    const { client, namespace } = stage;
    await makeNodes(stage, 1);
    const claims = async () =>
      (await client.list(PersistentVolumeClaim, { namespace })).items
        .filter(({ metadata }) => !metadata.deletionTimestamp)
        .map(({ metadata }) => metadata.name)
        .sort();
    const storageClassName = `${namespace}-none`;
    const claim = {
      metadata: { name: "data" },
      spec: { accessModes: ["ReadWriteOnce"], storageClassName, resources: { requests: { storage: "1Gi" } } },
    };
    await client.create(
      StatefulSet,
      statefulSet(stage, 2, {
        podManagementPolicy: "Parallel",
        volumeClaimTemplates: [claim],
        persistentVolumeClaimRetentionPolicy: { whenScaled: "Delete", whenDeleted: "Delete" },
      }),
    );
    await stage.until("the claims are there", async () => String(await claims()) === "data-db-0,data-db-1");
    await client.scale(StatefulSet, `${namespace}/db`, 1);
    await stage.until("one claim is left", async () => String(await claims()) === "data-db-0");
    await client.delete(StatefulSet, `${namespace}/db`, { propagationPolicy: "Background" });
    await stage.until("no claim is left", async () => (await claims()).length === 0);
  },

  "a DaemonSet has a pod on each node, also on those that come later or are cordoned": async (stage) => {
    const { client, namespace } = stage;
    const [first, second] = await makeNodes(stage, 2);
    await client.create(DaemonSet, daemonSet(stage));
    await daemonsReady(stage, 2);
    assert.deepEqual(await placesOf(stage), [first, second]);
    const pod = (await podsOf(stage))[0]!;
    await client.delete(Pod, keyOf(pod));
    await stage.until("it is replaced", async () => {
      const pods = await podsOf(stage);
      return pods.length === 2 && pods.every(({ metadata }) => metadata.uid !== pod.metadata.uid);
    });
    await daemonsReady(stage, 2);
    await client.patch(DaemonSet, `${namespace}/agent`, {
      merge: { spec: { template: { spec: { nodeSelector: { "kubernetes.io/hostname": first! } } } } } as never,
    });
    await stage.until("it is on one node alone", async () => String(await placesOf(stage)) === first);
    await stage.until("and says so", async () => (await daemonsOf(stage)).status?.desiredNumberScheduled === 1);
  },

  "a DaemonSet updates as many nodes at a time as may be without": async (stage) => {
    const { client, namespace } = stage;
    await makeNodes(stage, 3);
    await client.create(DaemonSet, daemonSet(stage));
    await daemonsReady(stage, 3);
    const template = placed(stage, { image: "agent:2", sim: { "ready-delay": "1s" } });
    await client.patch(DaemonSet, `${namespace}/agent`, { merge: { spec: { template } } as never });
    await stage.until("all are new", async () => {
      const { status, metadata } = await daemonsOf(stage);
      assert.ok((status?.numberAvailable ?? 0) >= 2, `${status?.numberAvailable} are available`);
      return (
        status?.observedGeneration === metadata.generation &&
        status?.updatedNumberScheduled === 3 &&
        status.numberAvailable === 3
      );
    });
    assert.deepEqual(await images(stage), ["agent:2", "agent:2", "agent:2"]);
  },

  "a DaemonSet that may surge starts the new pod before the old one goes": async (stage) => {
    const { client, namespace } = stage;
    await makeNodes(stage, 2);
    const updateStrategy = { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
    await client.create(DaemonSet, daemonSet(stage, { updateStrategy }));
    await daemonsReady(stage, 2);
    const template = placed(stage, { image: "agent:2", sim: { "ready-delay": "1s" } });
    await client.patch(DaemonSet, `${namespace}/agent`, { merge: { spec: { template } } as never });
    let most = 0;
    await stage.until("all are new", async () => {
      most = Math.max(most, (await podsOf(stage)).length);
      const { status, metadata } = await daemonsOf(stage);
      assert.equal(status?.numberAvailable, 2);
      return status?.observedGeneration === metadata.generation && status?.updatedNumberScheduled === 2;
    });
    assert.equal(most, 3);
    await stage.until("the old ones are gone", async () => String(await images(stage)) === "agent:2,agent:2");
  },
};
