import assert from "node:assert/strict";
import { test } from "node:test";
import type { LocalVolumes } from "@konverge/cluster";
import { Node, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from "@konverge/kinds";
import { node, onNodes, type VirtualNodes } from "./virtual-nodes.ts";

/** Volumes of the node `linux-1`. */
class Folders implements LocalVolumes {
  readonly there = new Set<string>();

  async create(name: string, volume: string): Promise<string | undefined> {
    if (name !== "linux-1") return undefined;
    this.there.add(volume);
    return `/volumes/${volume}`;
  }

  async delete(_node: string, volume: string): Promise<void> {
    this.there.delete(volume);
  }
}

/** Adds a node with a separate kubelet and capacity for pods. */
async function join({ cluster, wait, clock }: VirtualNodes, name: string): Promise<void> {
  const now = new Date(clock.now()).toISOString();
  const resources = { cpu: "4", memory: "8Gi", pods: "110" };
  const condition = { type: "Ready", status: "True", lastHeartbeatTime: now, lastTransitionTime: now };
  await wait(
    cluster.client.create(Node, {
      metadata: { name, labels: { "kubernetes.io/hostname": name } },
      status: {
        capacity: resources,
        allocatable: resources,
        conditions: [condition],
        nodeInfo: { containerRuntimeVersion: "containerd://2.2.1" },
      },
    } as never),
  );
}

async function claim({ cluster, wait }: VirtualNodes, spec: Partial<PersistentVolumeClaim["spec"]> = {}) {
  const requested = { accessModes: ["ReadWriteOnce" as const], resources: { requests: { storage: "1Gi" } } };
  const metadata = { name: "data", namespace: "default" };
  await wait(cluster.client.create(PersistentVolumeClaim, { metadata, spec: { ...requested, ...spec } }));
}

const usingClaim = (nodeName: string) => ({
  nodeSelector: { "kubernetes.io/hostname": nodeName },
  volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }],
});

test("the default class waits for a pod, and makes the volume a folder of its real node, which is larger on request and deleted", async () => {
  const folders = new Folders();
  await onNodes(
    [node("simulated")],
    async (stage) => {
      const { client } = stage.cluster;
      await join(stage, "linux-1");
      await claim(stage);
      await stage.pass(5_000);
      const standard = await stage.wait(client.get(StorageClass, "standard"));
      assert.equal(standard.volumeBindingMode, "WaitForFirstConsumer");
      const read = () => stage.wait(client.get(PersistentVolumeClaim, "default/data"));
      assert.equal((await read()).status?.phase, "Pending");
      await stage.pod("web", usingClaim("linux-1"));
      await stage.pass(10_000);
      const bound = await read();
      const name = `pvc-${bound.metadata.uid}`;
      assert.equal(bound.status?.phase, "Bound");
      assert.deepEqual([...folders.there], [name]);
      const { spec } = await stage.wait(client.get(PersistentVolume, name));
      assert.deepEqual(spec?.local, { path: `/volumes/${name}` });
      assert.deepEqual(spec?.nodeAffinity?.required?.nodeSelectorTerms, [
        { matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In", values: ["linux-1"] }] },
      ]);
      const larger = { spec: { resources: { requests: { storage: "2Gi" } } } };
      await stage.wait(client.patch(PersistentVolumeClaim, "default/data", { merge: larger }));
      await stage.pass(1_000);
      assert.equal((await read()).status?.capacity?.["storage"], "2Gi");
      await stage.wait(client.delete(Pod, "default/web", { gracePeriodSeconds: 0 }));
      await stage.wait(client.delete(PersistentVolumeClaim, "default/data"));
      await stage.pass(10_000);
      assert.deepEqual((await stage.wait(client.list(PersistentVolume))).items, []);
      assert.deepEqual([...folders.there], []);
    },
    { localVolumes: folders },
  );
});

test("a claim whose pod runs on a simulated node gets a simulated volume in the same cluster", () =>
  onNodes(
    [node("simulated")],
    async (stage) => {
      await join(stage, "linux-1");
      await claim(stage);
      await stage.pod("web", usingClaim("simulated"));
      await stage.pass(10_000);
      const { items } = await stage.wait(stage.cluster.client.list(PersistentVolume));
      assert.equal(items[0]?.spec?.csi?.driver, "simulated.konverge.dev");
    },
    { localVolumes: new Folders() },
  ));

test("a real node that the cluster did not start gets no volume, and an event with the reason", () =>
  onNodes(
    [],
    async (stage) => {
      await join(stage, "elsewhere");
      await claim(stage);
      await stage.pod("web", usingClaim("elsewhere"));
      await stage.pass(10_000);
      assert.deepEqual((await stage.wait(stage.cluster.client.list(PersistentVolume))).items, []);
      const failed = (await stage.events("data")).find((event) => event.startsWith("ProvisioningFailed"));
      assert.match(failed ?? "", /node "elsewhere" is not one that this cluster started/);
    },
    { localVolumes: new Folders() },
  ));
