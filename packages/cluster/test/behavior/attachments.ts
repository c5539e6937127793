import assert from "node:assert/strict";
import { timestamp } from "@konverge/core";
import { CSIDriver, Node, PersistentVolume, PersistentVolumeClaim, Pod, VolumeAttachment } from "@konverge/kinds";
import { assertEvent, type Behavior, eventsAbout, find, run, type Stage } from "./stage.ts";

/** A driver and nodes of the behavior alone: a real cluster plays several at a time. */
const driverOf = ({ namespace }: Stage) => `${namespace}.example.com`;
const nodeOf = ({ namespace }: Stage, name: string) => `${namespace}-${name}`;
const uniqueName = (stage: Stage) => `kubernetes.io/csi/${driverOf(stage)}^disk-1`;

/** Two nodes, a CSI driver and a bound claim `data`. What kubelets and the driver's attacher do, the behavior does itself. */
async function prepare(stage: Stage, { accessMode = "ReadWriteOnce", attachRequired = true } = {}): Promise<void> {
  const { client, namespace } = stage;
  await client.create(CSIDriver, { metadata: { name: driverOf(stage) }, spec: { attachRequired } });
  const now = timestamp(client.clock);
  for (const name of ["one", "two"]) {
    const annotations = { "volumes.kubernetes.io/controller-managed-attach-detach": "true" };
    await client.create(Node, { metadata: { name: nodeOf(stage, name), annotations } });
    const ready = { type: "Ready", status: "True" as const, lastHeartbeatTime: now, lastTransitionTime: now };
    await client.patchStatus(Node, nodeOf(stage, name), { merge: { status: { conditions: [ready] } } });
  }
  const accessModes = [accessMode as "ReadWriteOnce"];
  await client.create(PersistentVolume, {
    metadata: { name: `${namespace}-disk` },
    spec: {
      accessModes,
      capacity: { storage: "1Gi" },
      storageClassName: namespace,
      claimRef: { namespace, name: "data" },
      csi: { driver: driverOf(stage), volumeHandle: "disk-1" },
    },
  });
  await client.create(PersistentVolumeClaim, {
    metadata: { name: "data", namespace },
    spec: { accessModes, resources: { requests: { storage: "1Gi" } }, storageClassName: namespace },
  });
  await stage.until("the claim is bound", async () => {
    return (await client.get(PersistentVolumeClaim, `${namespace}/data`)).status?.phase === "Bound";
  });
}

async function pod(stage: Stage, name: string, node: string): Promise<Pod> {
  const { client, namespace } = stage;
  const made = await client.create(Pod, {
    metadata: { name, namespace },
    spec: {
      nodeName: nodeOf(stage, node),
      containers: [{ name: "main", image: "web" }],
      volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }],
    },
  });
  return made;
}

const remove = ({ client, namespace }: Stage, name: string) =>
  client.delete(Pod, `${namespace}/${name}`, { gracePeriodSeconds: 0 });

async function attachments(stage: Stage): Promise<VolumeAttachment[]> {
  const { items } = await stage.client.list(VolumeAttachment);
  return items.filter(({ spec }) => spec.attacher === driverOf(stage));
}

/** The nodes that have or are to have the volume, without the prefix that keeps them apart. */
const attachedTo = async (stage: Stage) =>
  (await attachments(stage)).map(({ spec }) => spec.nodeName.slice(stage.namespace.length + 1)).sort();

const untilAttachedTo = (stage: Stage, ...nodes: string[]) =>
  stage.until(
    `attachments are on ${nodes.join(" and ") || "no node"}`,
    async () => (await attachedTo(stage)).join() === nodes.join(),
  );

/** What the attacher of the driver reports. */
async function report(stage: Stage, status: Record<string, unknown>): Promise<void> {
  for (const { metadata } of await attachments(stage))
    await stage.client.patchStatus(VolumeAttachment, metadata.name, { merge: { status } as never });
}

/** What the kubelet of a node reports as mounted, or about to be. */
const use = (stage: Stage, node: string, volumesInUse: string[]) =>
  stage.client.patchStatus(Node, nodeOf(stage, node), { merge: { status: { volumesInUse } } });

const listed = async (stage: Stage, node: string) =>
  (await stage.client.get(Node, nodeOf(stage, node))).status?.volumesAttached ?? [];

const untilListed = (stage: Stage, node: string, ...names: string[]) =>
  stage.until(`node ${node} lists ${names.length} volumes`, async () => {
    return (await listed(stage, node)).map(({ name }) => name).join() === names.join();
  });

const MULTI_ATTACH =
  /^Warning FailedAttachVolume Multi-Attach error for volume "\S+-disk" Volume is already used by pod\(s\) first$/;

export const attachmentBehaviors: Record<string, Behavior> = {
  "a volume is attached for a pod, listed by its node when it is, and detached when neither pod nor node uses it":
    async (stage) => {
      await prepare(stage);
      await pod(stage, "web", "one");
      await untilAttachedTo(stage, "one");
      const [made] = await attachments(stage);
      assert.match(made!.metadata.name, /^csi-[0-9a-f]{64}$/);
      assert.equal(made!.metadata.finalizers, undefined);
      assert.deepEqual(made!.spec, {
        attacher: driverOf(stage),
        nodeName: nodeOf(stage, "one"),
        source: { persistentVolumeName: `${stage.namespace}-disk` },
      });
      assert.deepEqual(made!.status, { attached: false });
      await stage.quiet();
      assert.deepEqual(await listed(stage, "one"), []);
      await report(stage, { attached: true });
      await untilListed(stage, "one", uniqueName(stage));
      assert.deepEqual(await listed(stage, "one"), [{ name: uniqueName(stage), devicePath: "" }]);
      const succeeded = /^Normal SuccessfulAttachVolume AttachVolume\.Attach succeeded for volume "\S+-disk" $/;
      await assertEvent(stage, "Pod", "web", succeeded);
      await use(stage, "one", [uniqueName(stage)]);
      await remove(stage, "web");
      await stage.quiet();
      assert.deepEqual(await attachedTo(stage), ["one"], "the node still uses it");
      assert.equal((await listed(stage, "one")).length, 1);
      await use(stage, "one", []);
      await untilListed(stage, "one");
      await untilAttachedTo(stage);
    },

  "a ReadWriteOnce volume is attached to one node at a time, and pods elsewhere get an event with its users": async (
    stage,
  ) => {
    await prepare(stage);
    await run(stage, await pod(stage, "first", "one"));
    await untilAttachedTo(stage, "one");
    await report(stage, { attached: true });
    await untilListed(stage, "one", uniqueName(stage));
    await pod(stage, "second", "two");
    await assertEvent(stage, "Pod", "second", MULTI_ATTACH);
    await stage.quiet();
    assert.deepEqual(await attachedTo(stage), ["one"]);
    const warned = (await eventsAbout(stage, "Pod", "second")).filter((line) => MULTI_ATTACH.test(line));
    assert.equal(warned.length, 1, "one event, not one for each attempt");
    await remove(stage, "first");
    await untilAttachedTo(stage, "two");
    assert.deepEqual(await listed(stage, "one"), []);
    await report(stage, { attached: true });
    await untilListed(stage, "two", uniqueName(stage));
  },

  "a ReadWriteOnce volume whose detaching is under way is not attached elsewhere": async (stage) => {
    const { client } = stage;
    await prepare(stage);
    await pod(stage, "first", "one");
    await untilAttachedTo(stage, "one");
    const [{ metadata }] = (await attachments(stage)) as [VolumeAttachment];
    const finalizers = ["external-attacher/disks"];
    await client.patch(VolumeAttachment, metadata.name, { merge: { metadata: { finalizers } } });
    await report(stage, { attached: true });
    await untilListed(stage, "one", uniqueName(stage));
    await remove(stage, "first");
    const terminating = async () =>
      (await find(stage, VolumeAttachment, metadata.name))?.metadata.deletionTimestamp !== undefined;
    await stage.until("the attachment is being deleted", terminating);
    assert.deepEqual(await listed(stage, "one"), []);
    await pod(stage, "second", "two");
    await stage.quiet();
    assert.deepEqual(await attachedTo(stage), ["one"]);
    await client.patch(VolumeAttachment, metadata.name, { merge: { metadata: { finalizers: null } } as never });
    await untilAttachedTo(stage, "two");
  },

  "a volume that several nodes may write is attached to each": async (stage) => {
    await prepare(stage, { accessMode: "ReadWriteMany" });
    await pod(stage, "first", "one");
    await pod(stage, "second", "two");
    await untilAttachedTo(stage, "one", "two");
  },

  "nothing is attached for a driver that does not require it": async (stage) => {
    await prepare(stage, { attachRequired: false });
    await pod(stage, "web", "one");
    await stage.quiet();
    assert.deepEqual(await attachedTo(stage), []);
  },

  "an attacher's error is an event of the pod": async (stage) => {
    await prepare(stage);
    await pod(stage, "web", "one");
    await untilAttachedTo(stage, "one");
    const attachError = { message: "rpc error: no such disk", time: timestamp(stage.client.clock) };
    await report(stage, { attached: false, attachError });
    const failed =
      /^Warning FailedAttachVolume AttachVolume\.Attach failed for volume "\S+-disk" : rpc error: no such disk$/;
    await assertEvent(stage, "Pod", "web", failed);
  },

  "a pod that is being deleted keeps its volume while its containers run, and a volume of a finished pod is detached":
    async (stage) => {
      const { client, namespace } = stage;
      await prepare(stage);
      const web = await pod(stage, "web", "one");
      await run(stage, web);
      await untilAttachedTo(stage, "one");
      await report(stage, { attached: true });
      await untilListed(stage, "one", uniqueName(stage));
      await client.delete(Pod, `${namespace}/web`, { gracePeriodSeconds: 600 });
      await stage.quiet();
      assert.deepEqual(await attachedTo(stage), ["one"]);
      const terminated = { exitCode: 0, finishedAt: timestamp(client.clock) };
      const status = {
        name: "main",
        image: "web",
        imageID: "web",
        ready: false,
        restartCount: 0,
        state: { terminated },
      };
      await client.patchStatus(Pod, `${namespace}/web`, { merge: { status: { containerStatuses: [status] } } });
      await untilAttachedTo(stage);
      await remove(stage, "web");
    },
};
