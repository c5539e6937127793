import assert from "node:assert/strict";
import type { OwnerReference } from "@konverge/core";
import {
  ConfigMap,
  ControllerRevision,
  DaemonSet,
  Node,
  PersistentVolumeClaim,
  Pod,
  StatefulSet,
} from "@konverge/kinds";
import { assertEvent, type Behavior, find, labelsOf, podsOf, run, runAllUntil, type Stage, template } from "./stage.ts";

const selector = { matchLabels: { ...labelsOf } };

function statefulSet({ namespace }: Stage, replicas: number, more: object = {}) {
  return {
    metadata: { name: "db", namespace },
    spec: { replicas, serviceName: "db", selector, template: template(), ...more },
  };
}

const claimTemplate = {
  metadata: { name: "data" },
  spec: { accessModes: ["ReadWriteOnce" as const], resources: { requests: { storage: "1Gi" } } },
};

const names = async (stage: Stage) => (await podsOf(stage)).map(({ metadata }) => metadata.name).sort();
const getSet = ({ client, namespace }: Stage) => client.get(StatefulSet, `${namespace}/db`);
const podNamed = (stage: Stage, name: string) => find(stage, Pod, `${stage.namespace}/${name}`);

const becomesReady = (stage: Stage, count: number) =>
  runAllUntil(stage, `${count} pods are ready`, async () => {
    const { status, metadata } = await getSet(stage);
    return (
      status?.readyReplicas === count && status.replicas === count && status.observedGeneration === metadata.generation
    );
  });

function daemonSet({ namespace }: Stage, more: object = {}) {
  const pod = template("agent:1", { nodeSelector: { stage: namespace } });
  return { metadata: { name: "agent", namespace }, spec: { selector, template: pod, ...more } };
}

const node = ({ client, namespace }: Stage, name: string) =>
  client.create(Node, { metadata: { name: `${namespace}-${name}`, labels: { stage: namespace } } });

const getDaemons = ({ client, namespace }: Stage) => client.get(DaemonSet, `${namespace}/agent`);

export const sets: Record<string, Behavior> = {
  "a StatefulSet starts its pods one after the other, with names, numbers and claims": async (stage) => {
    await stage.client.create(StatefulSet, statefulSet(stage, 3, { volumeClaimTemplates: [claimTemplate] }));
    await stage.until("the first pod is there", async () => (await names(stage)).length > 0);
    await stage.quiet();
    assert.deepEqual(await names(stage), ["db-0"]);
    await run(stage, (await podNamed(stage, "db-0"))!);
    await stage.until("the second pod is there", async () => (await names(stage)).length > 1);
    await becomesReady(stage, 3);
    const pod = (await podNamed(stage, "db-2"))!;
    assert.equal(pod.spec?.hostname, "db-2");
    assert.equal(pod.spec?.subdomain, "db");
    assert.equal(pod.metadata.labels?.["statefulset.kubernetes.io/pod-name"], "db-2");
    assert.equal(pod.metadata.labels?.["apps.kubernetes.io/pod-index"], "2");
    assert.equal(pod.spec?.volumes?.find(({ name }) => name === "data")?.persistentVolumeClaim?.claimName, "data-db-2");
    const claim = await find(stage, PersistentVolumeClaim, `${stage.namespace}/data-db-2`);
    assert.deepEqual(claim?.metadata.labels, labelsOf);
    const { status } = await getSet(stage);
    assert.equal(pod.metadata.labels?.["controller-revision-hash"], status?.currentRevision);
    await assertEvent(
      stage,
      "StatefulSet",
      "db",
      /^Normal SuccessfulCreate Create Pod db-0 in StatefulSet db successful$/,
    );
    await assertEvent(
      stage,
      "StatefulSet",
      "db",
      /^Normal SuccessfulCreate Create Claim data-db-0 Pod db-0 in StatefulSet db success$/,
    );
  },

  "a StatefulSet shrinks from the end and keeps its claims": async (stage) => {
    await stage.client.create(StatefulSet, statefulSet(stage, 3, { volumeClaimTemplates: [claimTemplate] }));
    await becomesReady(stage, 3);
    await stage.client.patch(StatefulSet, `${stage.namespace}/db`, { merge: { spec: { replicas: 1 } } });
    await stage.until("one pod is left", async () => String(await names(stage)) === "db-0");
    const claims = (await stage.client.list(PersistentVolumeClaim, { namespace: stage.namespace })).items;
    assert.equal(claims.length, 3);
    assert.ok(claims.every(({ metadata }) => !metadata.ownerReferences?.length));
  },

  "a set is the controller of claims that go with it, unless another object is": async (stage) => {
    const { client, namespace } = stage;
    const persistentVolumeClaimRetentionPolicy = { whenDeleted: "Delete" };
    const more = { volumeClaimTemplates: [claimTemplate], persistentVolumeClaimRetentionPolicy };
    await client.create(StatefulSet, statefulSet(stage, 2, more));
    await becomesReady(stage, 2);
    const owners = async (i: number) =>
      (await client.get(PersistentVolumeClaim, `${namespace}/data-db-${i}`)).metadata.ownerReferences ?? [];
    const shown = async (i: number) =>
      (await owners(i)).map(({ kind, controller }) => `${kind} ${controller ?? false}`).join();
    const areOwned = async () => (await shown(0)) === "StatefulSet true" && (await shown(1)) === "StatefulSet true";
    await stage.until("the set controls both claims", areOwned);
    const other = await client.create(ConfigMap, { metadata: { name: "other", namespace } });
    const foreign = { apiVersion: "v1", kind: "ConfigMap", name: "other", uid: other.metadata.uid!, controller: true };
    const [own] = (await owners(0)) as [OwnerReference];
    const weak = { ...own, controller: false };
    const write = (i: number, ownerReferences: OwnerReference[]) =>
      client.patch(PersistentVolumeClaim, `${namespace}/data-db-${i}`, { merge: { metadata: { ownerReferences } } });
    await write(0, [weak]);
    await write(1, [weak, foreign]);
    // It does not watch claims: a change of the set leads to a reconcile.
    await client.patch(StatefulSet, `${namespace}/db`, { merge: { metadata: { labels: { changed: "yes" } } } });
    await stage.until("the set controls the first claim again", async () => (await shown(0)) === "StatefulSet true");
    await stage.until(
      "the second belongs to the other object alone",
      async () => (await shown(1)) === "ConfigMap true",
    );
  },

  "claims go with the set, or with the pod that is given up, if the set says so": async (stage) => {
    const persistentVolumeClaimRetentionPolicy = { whenDeleted: "Delete", whenScaled: "Delete" };
    const more = { volumeClaimTemplates: [claimTemplate], persistentVolumeClaimRetentionPolicy };
    await stage.client.create(StatefulSet, statefulSet(stage, 2, more));
    await becomesReady(stage, 2);
    const claim = (i: number) => find(stage, PersistentVolumeClaim, `${stage.namespace}/data-db-${i}`);
    await stage.until(
      "the claims belong to the set",
      async () => (await claim(1))?.metadata.ownerReferences?.[0]?.kind === "StatefulSet",
    );
    await stage.client.patch(StatefulSet, `${stage.namespace}/db`, { merge: { spec: { replicas: 1 } } });
    await stage.until("the second claim is on its way out", async () => {
      const found = await claim(1);
      return !found || found.metadata.deletionTimestamp !== undefined;
    });
    assert.equal((await claim(0))?.metadata.deletionTimestamp, undefined);
  },

  "in parallel, a StatefulSet starts all pods at once, from its start ordinal": async (stage) => {
    await stage.client.create(
      StatefulSet,
      statefulSet(stage, 3, { podManagementPolicy: "Parallel", ordinals: { start: 5 } }),
    );
    await stage.until("three pods are there", async () => String(await names(stage)) === "db-5,db-6,db-7");
  },

  "a rolling update of a StatefulSet goes from the last pod to the partition": async (stage) => {
    const { client, namespace } = stage;
    const updateStrategy = { type: "RollingUpdate", rollingUpdate: { partition: 1 } };
    await client.create(StatefulSet, statefulSet(stage, 3, { updateStrategy }));
    await becomesReady(stage, 3);
    const image = async (name: string) => (await podNamed(stage, name))?.spec?.containers[0]?.image;
    await client.patch(StatefulSet, `${namespace}/db`, { merge: { spec: { template: template("web:2") } } });
    await stage.until("the last pod is new", async () => (await image("db-2")) === "web:2");
    await stage.quiet();
    assert.equal(await image("db-1"), "web:1");
    await runAllUntil(stage, "the next is new", async () => (await image("db-1")) === "web:2");
    await becomesReady(stage, 3);
    await stage.quiet();
    assert.equal(await image("db-0"), "web:1");
    const { status } = await getSet(stage);
    assert.notEqual(status?.currentRevision, status?.updateRevision);
    assert.equal(status?.updatedReplicas, 2);
    await client.patch(StatefulSet, `${namespace}/db`, {
      merge: { spec: { updateStrategy: { rollingUpdate: { partition: 0 } } } },
    });
    await runAllUntil(stage, "all are new", async () => {
      const { status: now } = await getSet(stage);
      return now?.currentRevision === now?.updateRevision && now?.updatedReplicas === 3;
    });
    const revisions = (await client.list(ControllerRevision, { namespace })).items;
    assert.deepEqual(revisions.map(({ revision }) => revision).sort(), [1, 2]);
  },

  "with OnDelete, a StatefulSet changes pods only when they are deleted": async (stage) => {
    const { client, namespace } = stage;
    await client.create(StatefulSet, statefulSet(stage, 1, { updateStrategy: { type: "OnDelete" } }));
    await becomesReady(stage, 1);
    await client.patch(StatefulSet, `${namespace}/db`, { merge: { spec: { template: template("web:2") } } });
    await stage.quiet();
    assert.equal((await podNamed(stage, "db-0"))?.spec?.containers[0]?.image, "web:1");
    await client.delete(Pod, `${namespace}/db-0`, { gracePeriodSeconds: 0 });
    await stage.until(
      "the pod is new",
      async () => (await podNamed(stage, "db-0"))?.spec?.containers[0]?.image === "web:2",
    );
  },

  "a DaemonSet has a pod for every node that it fits, also for new ones": async (stage) => {
    const { client, namespace } = stage;
    await node(stage, "a");
    await node(stage, "b");
    const taints = [{ key: "example.com/special", effect: "NoSchedule" as const }];
    await client.create(Node, { metadata: { name: `${namespace}-c`, labels: { stage: namespace } }, spec: { taints } });
    await client.create(DaemonSet, daemonSet(stage));
    const target = (pod: Pod) =>
      pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms[0]
        ?.matchFields?.[0]?.values?.[0];
    const targets = async () => String((await podsOf(stage)).map(target).sort());
    await stage.until("two nodes have a pod", async () => (await targets()) === `${namespace}-a,${namespace}-b`);
    await stage.until("it counts them", async () => (await getDaemons(stage)).status?.desiredNumberScheduled === 2);
    await node(stage, "d");
    await stage.until("the new node has one", async () => (await targets()).endsWith(`${namespace}-d`));
    const [pod] = await podsOf(stage);
    const keys = pod!.spec?.tolerations?.map(({ key }) => key) ?? [];
    assert.ok(keys.includes("node.kubernetes.io/unreachable") && keys.includes("node.kubernetes.io/unschedulable"));
    assert.ok(pod!.metadata.labels?.["controller-revision-hash"]);
  },

  "a DaemonSet is updated one node at a time": async (stage) => {
    const { client, namespace } = stage;
    for (const name of ["a", "b"]) await node(stage, name);
    await client.create(DaemonSet, daemonSet(stage));
    await runAllUntil(
      stage,
      "both pods are available",
      async () => (await getDaemons(stage)).status?.numberAvailable === 2,
    );
    const pod = template("agent:2", { nodeSelector: { stage: namespace } });
    await client.patch(DaemonSet, `${namespace}/agent`, { merge: { spec: { template: pod } } });
    const images = async () => (await podsOf(stage)).map(({ spec }) => spec?.containers[0]?.image).sort();
    await stage.until("one pod is new", async () => String(await images()) === "agent:1,agent:2");
    await stage.quiet();
    assert.equal(String(await images()), "agent:1,agent:2");
    await runAllUntil(stage, "both pods are new", async () => {
      return (
        String(await images()) === "agent:2,agent:2" && (await getDaemons(stage)).status?.updatedNumberScheduled === 2
      );
    });
  },
};
