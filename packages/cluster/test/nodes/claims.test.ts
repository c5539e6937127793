import assert from "node:assert/strict";
import { test } from "node:test";
import { PersistentVolume, PersistentVolumeClaim, Pod, type PodSpec, StorageClass } from "@konverge/kinds";
import { conditionOf, node, onNodes, type VirtualNodes } from "./virtual-nodes.ts";

const nodes = [node("one"), node("two")];
const storage = { requests: { storage: "1Gi" } };
const scratch: Partial<PodSpec> = {
  volumes: [
    {
      name: "scratch",
      ephemeral: {
        volumeClaimTemplate: {
          metadata: { labels: { kind: "scratch" } },
          spec: { accessModes: ["ReadWriteOnce"], resources: storage },
        },
      },
    },
  ],
};
const using = (claimName: string): Partial<PodSpec> => ({
  volumes: [{ name: "data", persistentVolumeClaim: { claimName } }],
});
const claim = ({ cluster, wait }: VirtualNodes, name: string, spec: object = {}) =>
  wait(
    cluster.client.create(PersistentVolumeClaim, {
      metadata: { name, namespace: "default" },
      spec: { accessModes: ["ReadWriteOnce"], resources: storage, ...spec },
    } as never),
  );
const scheduled = async (stage: VirtualNodes, name: string) => conditionOf(await stage.get(name), "PodScheduled");

test("an ephemeral volume has a claim that belongs to its pod and goes with it", () =>
  onNodes(nodes, async (stage) => {
    const { cluster, wait } = stage;
    await stage.pod("worker", scratch);
    await stage.pass(5000);
    const pod = await stage.get("worker");
    assert.equal(pod.status?.phase, "Running");
    const made = await wait(cluster.client.get(PersistentVolumeClaim, "default/worker-scratch"));
    assert.deepEqual(made.metadata.ownerReferences, [
      {
        apiVersion: "v1",
        kind: "Pod",
        name: "worker",
        uid: pod.metadata.uid,
        controller: true,
        blockOwnerDeletion: true,
      },
    ]);
    assert.deepEqual([made.metadata.labels, made.status?.phase], [{ kind: "scratch" }, "Bound"]);
    await wait(cluster.client.delete(Pod, "default/worker"));
    await stage.pass(60_000);
    const { items } = await wait(cluster.client.list(PersistentVolumeClaim));
    assert.deepEqual(items, []);
  }));

test("a pod with an ephemeral volume waits while another object has the name of its claim", () =>
  onNodes(nodes, async (stage) => {
    const { cluster, wait } = stage;
    await claim(stage, "worker-scratch");
    await stage.pod("worker", scratch);
    await stage.pass(10_000);
    const problem = "PVC default/worker-scratch was not created for pod default/worker (pod is not owner)";
    assert.match((await scheduled(stage, "worker"))?.message ?? "", new RegExp(problem.replace(/[()]/g, "\\$&")));
    assert.ok((await stage.events("worker")).includes(`FailedBinding ephemeral volume scratch: ${problem}`));
    await wait(cluster.client.delete(PersistentVolumeClaim, "default/worker-scratch"));
    await stage.pass(60_000);
    assert.equal((await stage.get("worker")).status?.phase, "Running");
  }));

test("a claim with ReadWriteOncePod is used by one pod at a time, the most important first", () =>
  onNodes(nodes, async (stage) => {
    const { cluster, wait } = stage;
    await claim(stage, "alone", { accessModes: ["ReadWriteOncePod"] });
    await stage.pod("first", using("alone"));
    await stage.pass(5000);
    await stage.pod("second", using("alone"));
    await stage.pass(5000);
    assert.equal((await stage.get("first")).status?.phase, "Running");
    const inUse =
      "0/2 nodes are available: 2 node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod. preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod.";
    assert.equal((await scheduled(stage, "second"))?.message, inUse);
    await wait(cluster.client.delete(Pod, "default/first"));
    await stage.pass(60_000);
    assert.equal((await stage.get("second")).status?.phase, "Running");
    await stage.pod("important", { ...using("alone"), priorityClassName: "system-node-critical" });
    await stage.pass(60_000);
    assert.equal((await stage.get("important")).status?.phase, "Running");
    await assert.rejects(stage.get("second"), /not found/);
  }));

test("a volume of a class with topologies can be reached from the topology of its node alone", () =>
  onNodes(
    [
      node("one", { labels: { zone: "a" } }),
      node("two", { labels: { zone: "b" } }),
      node("three", { labels: { zone: "c" } }),
    ],
    async (stage) => {
      const { cluster, wait } = stage;
      const zones = [{ matchLabelExpressions: [{ key: "zone", values: ["b", "c"] }] }];
      const zoned = (name: string, volumeBindingMode: string) =>
        wait(
          cluster.client.create(StorageClass, {
            metadata: { name },
            provisioner: "simulated.konverge.dev",
            volumeBindingMode,
            allowedTopologies: zones,
          } as never),
        );
      await zoned("late", "WaitForFirstConsumer");
      await zoned("early", "Immediate");
      await claim(stage, "late", { storageClassName: "late" });
      await claim(stage, "early", { storageClassName: "early" });
      await stage.pod("late", { ...using("late"), nodeSelector: { zone: "c" } });
      await stage.pod("early", using("early"));
      await stage.pass(10_000);
      const zoneOf = async (name: string) => {
        const { spec } = await wait(cluster.client.get(PersistentVolumeClaim, `default/${name}`));
        const volume = await wait(cluster.client.get(PersistentVolume, spec?.volumeName ?? ""));
        return volume.spec?.nodeAffinity?.required?.nodeSelectorTerms;
      };
      const terms = (zone: string) => [{ matchExpressions: [{ key: "zone", operator: "In", values: [zone] }] }];
      assert.deepEqual(await zoneOf("late"), terms("c"));
      assert.deepEqual(await zoneOf("early"), terms("b"));
      assert.equal((await stage.get("early")).spec?.nodeName, "two");
    },
  ));
