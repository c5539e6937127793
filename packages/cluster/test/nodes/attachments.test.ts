import assert from "node:assert/strict";
import { test } from "node:test";
import {
  CSIDriver,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  type PodSpec,
  StorageClass,
  VolumeAttachment,
} from "@konverge/kinds";
import { node, onNodes, type VirtualNodes } from "./virtual-nodes.ts";

const nodes = [node("one"), node("two")];
const on = (nodeName: string, claimName = "data"): Partial<PodSpec> => ({
  nodeName,
  terminationGracePeriodSeconds: 0,
  volumes: [{ name: "data", persistentVolumeClaim: { claimName } }],
});

/** The cluster's own driver as one whose volumes are attached to a node before they are mounted. */
const onAttachingNodes = (shapes: Parameters<typeof onNodes>[0], play: Parameters<typeof onNodes>[1]) =>
  onNodes(shapes, async (stage) => {
    await stage.wait(stage.cluster.client.delete(CSIDriver, "simulated.konverge.dev"));
    await play(stage);
  });

async function claim({ cluster, wait, pass }: VirtualNodes, spec: object = {}, name = "data"): Promise<string> {
  const { client } = cluster;
  const resources = { requests: { storage: "1Gi" } };
  const made = {
    metadata: { name, namespace: "default" },
    spec: { accessModes: ["ReadWriteOnce"], resources, ...spec },
  };
  await wait(client.create(PersistentVolumeClaim, made as never));
  await pass(5000);
  return (await wait(client.get(PersistentVolumeClaim, `default/${name}`))).spec?.volumeName ?? "";
}

const attachments = async ({ cluster, wait }: VirtualNodes) =>
  (await wait(cluster.client.list(VolumeAttachment))).items;
const nodesWithVolume = async (stage: VirtualNodes) => (await attachments(stage)).map(({ spec }) => spec.nodeName);
const phaseOf = async (stage: VirtualNodes, name: string) => (await stage.get(name)).status?.phase;
async function volumesOf({ cluster, wait }: VirtualNodes, name: string) {
  const { volumesAttached = [], volumesInUse = [] } = (await wait(cluster.client.get(Node, name))).status ?? {};
  return [volumesAttached.map((volume) => volume.name), volumesInUse];
}

test("a volume is attached to the node of a pod that uses it, listed there, and detached when the pod is deleted", () =>
  onAttachingNodes(nodes, async (stage) => {
    const volume = await claim(stage);
    await stage.pod("web", on("one"));
    await stage.pass(5000);
    assert.equal(await phaseOf(stage, "web"), "Running");
    const [made, ...others] = await attachments(stage);
    assert.match(made?.metadata.name ?? "", /^csi-[0-9a-f]{64}$/);
    assert.deepEqual(
      [made?.spec, made?.status, others],
      [
        { attacher: "simulated.konverge.dev", nodeName: "one", source: { persistentVolumeName: volume } },
        { attached: true },
        [],
      ],
    );
    const unique = `kubernetes.io/csi/simulated.konverge.dev^${volume}`;
    assert.deepEqual(await volumesOf(stage, "one"), [[unique], [unique]]);
    const succeeded = `SuccessfulAttachVolume AttachVolume.Attach succeeded for volume "${volume}" `;
    assert.deepEqual(
      (await stage.events("web")).filter((event) => event.includes("Attach")),
      [succeeded],
    );
    await stage.wait(stage.cluster.client.delete(Pod, "default/web"));
    await stage.pass(5000);
    assert.deepEqual(await attachments(stage), []);
    assert.deepEqual(await volumesOf(stage, "one"), [[], []]);
  }));

test("a pod waits for a ReadWriteOnce volume that another node has, and starts when it is detached there", () =>
  onAttachingNodes(nodes, async (stage) => {
    const volume = await claim(stage);
    await stage.pod("first", on("one"));
    await stage.pass(5000);
    await stage.pod("neighbor", on("one"));
    await stage.pass(5000);
    await stage.pod("second", on("two"));
    await stage.pass(130_000);
    assert.deepEqual(await Promise.all(["first", "second", "neighbor"].map((name) => phaseOf(stage, name))), [
      "Running",
      "Pending",
      "Running",
    ]);
    assert.deepEqual(
      (await stage.events("second")).filter((event) => event.startsWith("Failed")),
      [
        `FailedAttachVolume Multi-Attach error for volume "${volume}" Volume is already used by pod(s) first, neighbor`,
        "FailedMount Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[data], failed to process volumes=[]: context deadline exceeded",
      ],
    );
    await stage.wait(stage.cluster.client.delete(Pod, "default/first"));
    await stage.wait(stage.cluster.client.delete(Pod, "default/neighbor"));
    await stage.pass(5000);
    assert.equal(await phaseOf(stage, "second"), "Running");
    assert.deepEqual(await nodesWithVolume(stage), ["two"]);
  }));

test("several nodes have a ReadWriteMany volume at the same time", () =>
  onAttachingNodes(nodes, async (stage) => {
    await claim(stage, { accessModes: ["ReadWriteMany"] });
    await stage.pod("first", on("one"));
    await stage.pod("second", on("two"));
    await stage.pass(5000);
    assert.deepEqual((await nodesWithVolume(stage)).sort(), ["one", "two"]);
    assert.equal(await phaseOf(stage, "second"), "Running");
  }));

test("a pod that has ended no longer holds its volume", () =>
  onAttachingNodes(nodes, async (stage) => {
    await claim(stage);
    const exit = { "sim.konverge.dev/run-duration": "1s" };
    await stage.pod("job", { ...on("one"), restartPolicy: "Never" }, { annotations: exit });
    await stage.pod("next", on("two"));
    await stage.pass(60_000);
    assert.equal(await phaseOf(stage, "job"), "Succeeded");
    assert.equal(await phaseOf(stage, "next"), "Running");
    assert.deepEqual(await nodesWithVolume(stage), ["two"]);
  }));

for (const [title, isTainted, ms] of [
  ["six minutes after its pod is gone", false, 360_000],
  ["at once if the node is out of service", true, 5000],
] as const) {
  test(`a volume is detached from a node that no longer answers: ${title}`, () =>
    onAttachingNodes(nodes, async (stage) => {
      const { cluster, wait, pass } = stage;
      await claim(stage);
      await stage.pod("first", on("one"));
      await pass(5000);
      const stopped = { metadata: { annotations: { "sim.konverge.dev/kubelet": "stopped" } } };
      await wait(cluster.client.patch(Node, "one", { merge: stopped }));
      await pass(60_000);
      await wait(cluster.client.delete(Pod, "default/first", { gracePeriodSeconds: 0 }));
      await stage.pod("second", on("two"));
      await pass(2000);
      assert.deepEqual(await nodesWithVolume(stage), ["one"]);
      const problem = "Volume is already exclusively attached to one node and can't be attached to another";
      assert.ok((await stage.events("second")).some((event) => event.endsWith(problem)));
      const taint = { key: "node.kubernetes.io/out-of-service", value: "nodeshutdown", effect: "NoExecute" as const };
      if (isTainted) {
        const { spec } = await wait(cluster.client.get(Node, "one"));
        const taints = [...(spec?.taints ?? []), taint];
        await wait(cluster.client.patch(Node, "one", { merge: { spec: { taints } } }));
      } else await pass(ms - 10_000);
      if (!isTainted) assert.equal(await phaseOf(stage, "second"), "Pending");
      await pass(10_000);
      assert.equal(await phaseOf(stage, "second"), "Running");
      assert.deepEqual(await nodesWithVolume(stage), ["two"]);
    }));
}

test("pods of a node that is out of service are deleted, and their volumes go where the new pods are", () =>
  onAttachingNodes(nodes, async (stage) => {
    const { cluster, wait, pass } = stage;
    await claim(stage);
    await stage.pod("first", { ...on("one"), terminationGracePeriodSeconds: 30 });
    await pass(5000);
    await wait(
      cluster.client.patch(Node, "one", {
        merge: { metadata: { annotations: { "sim.konverge.dev/kubelet": "stopped" } } },
      }),
    );
    await pass(60_000);
    await stage.pod("second", on("two"));
    const { spec } = await wait(cluster.client.get(Node, "one"));
    const taint = { key: "node.kubernetes.io/out-of-service", effect: "NoExecute" as const };
    await wait(cluster.client.patch(Node, "one", { merge: { spec: { taints: [...(spec?.taints ?? []), taint] } } }));
    await pass(60_000);
    await assert.rejects(stage.get("first"), /not found/);
    assert.equal(await phaseOf(stage, "second"), "Running");
  }));

test("volumes of a driver that attaches nothing have no attachment", () =>
  onAttachingNodes(nodes, async (stage) => {
    const { client } = stage.cluster;
    const driver = { metadata: { name: "simulated.konverge.dev" }, spec: { attachRequired: false } };
    await stage.wait(client.create(CSIDriver, driver));
    await claim(stage);
    await stage.pod("web", on("one"));
    await stage.pass(5000);
    assert.equal(await phaseOf(stage, "web"), "Running");
    assert.deepEqual(await attachments(stage), []);
  }));

test("the attacher of another driver carries attachments out, and its errors are reported", () =>
  onAttachingNodes(nodes, async (stage) => {
    const { cluster, wait, pass } = stage;
    const { client } = cluster;
    await wait(client.create(StorageClass, { metadata: { name: "disks" }, provisioner: "disks.example.com" }));
    await wait(
      client.create(PersistentVolume, {
        metadata: { name: "disk" },
        spec: {
          accessModes: ["ReadWriteOnce"],
          capacity: { storage: "1Gi" },
          storageClassName: "disks",
          csi: { driver: "disks.example.com", volumeHandle: "d-1" },
        },
      }),
    );
    await claim(stage, { storageClassName: "disks" });
    await stage.pod("web", on("one"));
    await pass(5000);
    const [attachment] = await attachments(stage);
    assert.deepEqual([attachment?.spec.attacher, attachment?.status?.attached], ["disks.example.com", false]);
    assert.equal(await phaseOf(stage, "web"), "Pending");
    const finalizers = ["external-attacher/disks-example-com"];
    const attachError = { message: "rpc error: no such disk", time: "2026-01-01T00:00:00Z" };
    const { name } = attachment!.metadata;
    await wait(client.patch(VolumeAttachment, name, { merge: { metadata: { finalizers } } }));
    await wait(client.patchStatus(VolumeAttachment, name, { merge: { status: { attached: false, attachError } } }));
    await pass(5000);
    const failed = 'FailedAttachVolume AttachVolume.Attach failed for volume "disk" : rpc error: no such disk';
    assert.ok((await stage.events("web")).includes(failed));
    await wait(
      client.patchStatus(VolumeAttachment, name, { merge: { status: { attached: true, attachError: null } } as never }),
    );
    await pass(5000);
    assert.equal(await phaseOf(stage, "web"), "Running");
    await wait(client.delete(Pod, "default/web"));
    await pass(5000);
    await stage.pod("elsewhere", on("two"));
    await pass(5000);
    assert.equal((await attachments(stage)).length, 1, "the attacher has not detached it yet");
    await wait(client.patch(VolumeAttachment, name, { merge: { metadata: { finalizers: null } } as never }));
    await pass(5000);
    assert.deepEqual(await nodesWithVolume(stage), ["two"]);
  }));

test("VolumeAttachments that users create are ignored", () =>
  onAttachingNodes(nodes, async (stage) => {
    const source = { persistentVolumeName: await claim(stage) };
    const spec = { attacher: "disks.example.com", nodeName: "one", source };
    await stage.wait(stage.cluster.client.create(VolumeAttachment, { metadata: { name: "by-hand" }, spec }));
    await stage.pass(600_000);
    assert.equal((await attachments(stage)).length, 1);
  }));

test("a node mounts a ReadWriteOncePod volume for one pod at a time, also for pods that name the node", () =>
  onAttachingNodes(nodes, async (stage) => {
    const volume = await claim(stage, { accessModes: ["ReadWriteOncePod"] });
    await stage.pod("first", on("one"));
    await stage.pass(5000);
    await stage.pod("second", on("one"));
    await stage.pass(60_000);
    assert.equal(await phaseOf(stage, "second"), "Pending");
    const problem = `FailedMount MountVolume.SetUp failed for volume "${volume}" : volume uses the ReadWriteOncePod access mode and is already in use by another pod`;
    assert.deepEqual(
      (await stage.events("second")).filter((event) => event.startsWith("Failed")),
      [problem],
    );
    await stage.wait(stage.cluster.client.delete(Pod, "default/first"));
    await stage.pass(5000);
    assert.equal(await phaseOf(stage, "second"), "Running");
  }));
