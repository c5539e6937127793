import assert from "node:assert/strict";
import { test } from "node:test";
import { timestamp } from "@konverge/core";
import { Lease, Node, Pod } from "@konverge/kinds";
import { node, onNodes, type VirtualNodes } from "./virtual-nodes.ts";

const LEASES = "kube-node-lease";

/** What a kubelet registers with: it names its container runtime. */
function registration({ clock }: VirtualNodes) {
  const now = timestamp(clock);
  const capacity = { cpu: "2", memory: "4Gi", pods: "110" };
  return {
    status: {
      capacity,
      allocatable: capacity,
      addresses: [{ type: "InternalIP", address: "10.99.1.1" }],
      conditions: [{ type: "Ready", status: "False", lastHeartbeatTime: now, lastTransitionTime: now }],
      nodeInfo: { kubeletVersion: "v1.36.3", containerRuntimeVersion: "containerd://2.2.1" },
    },
  };
}

test("a node that a real kubelet registers, its pods and its lease are left to that kubelet", () =>
  onNodes([node("simulated")], async (stage) => {
    const { cluster, wait, pass } = stage;
    const { client } = cluster;
    const real = { metadata: { name: "real" }, ...registration(stage) };
    await wait(client.create(Node, real as never));
    await stage.pod("there", { nodeName: "real" });
    await stage.pod("here", { nodeName: "simulated" });
    await pass(10_000);
    const { status } = await wait(client.get(Node, "real"));
    assert.equal(status?.conditions?.find(({ type }) => type === "Ready")?.status, "False");
    assert.deepEqual(status?.capacity, { cpu: "2", memory: "4Gi", pods: "110" });
    assert.equal((await stage.get("there")).status?.phase, "Pending");
    assert.equal((await stage.get("here")).status?.phase, "Running");
    const { items } = await wait(client.list(Lease, { namespace: LEASES }));
    assert.deepEqual(
      items.map(({ metadata }) => metadata.name),
      ["simulated"],
    );
    await pass(60_000);
    const lost = await wait(client.get(Node, "real"));
    assert.equal(lost.status?.conditions?.find(({ type }) => type === "Ready")?.status, "Unknown");
    await wait(client.delete(Pod, "default/there"));
    assert.ok((await stage.get("there")).metadata.deletionTimestamp, "its kubelet confirms that it has ended");
  }));

test("a node that a user created is simulated until a real kubelet reports it", () =>
  onNodes([], async (stage) => {
    const { cluster, wait, pass } = stage;
    const { client } = cluster;
    await wait(client.create(Node, { metadata: { name: "mixed" } }));
    await stage.pod("web", { nodeName: "mixed" });
    await pass(10_000);
    const before = await stage.get("web");
    assert.equal(before.status?.phase, "Running");
    await wait(client.patchStatus(Node, "mixed", { strategic: registration(stage) } as never));
    await pass(5_000);
    await wait(client.delete(Pod, "default/web"));
    await pass(30_000);
    const after = await stage.get("web");
    assert.ok(after.metadata.deletionTimestamp);
    assert.deepEqual(after.status?.containerStatuses, before.status?.containerStatuses);
    assert.equal(cluster.kubelet.worker("default/web"), undefined);
    const { spec } = await wait(client.get(Lease, `${LEASES}/mixed`));
    assert.ok(stage.clock.now() - Date.parse(spec?.renewTime ?? "") > 20_000, "its lease is no longer renewed");
  }));
