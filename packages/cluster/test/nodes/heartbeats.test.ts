import assert from "node:assert/strict";
import { test } from "node:test";
import { startCluster } from "@konverge/cluster";
import { VirtualClock } from "@konverge/core";
import { Lease, Node } from "@konverge/kinds";
import { node, onNodes } from "./virtual-nodes.ts";

const HOUR = 3_600_000;
const LEASES = { namespace: "kube-node-lease" };

test("a client that reads the leases of nodes finds them renewed, and watchers get every renewal", () =>
  onNodes([node("a"), node("b")], async ({ cluster, clock, wait, pass }) => {
    const { client, server } = cluster;
    await pass(HOUR);
    const quiet = server.store.revision;
    await pass(HOUR);
    assert.equal(server.store.revision, quiet, "nothing reads them, so nothing is written");
    const { items } = await wait(client.list(Lease, LEASES));
    assert.deepEqual(
      items.map(({ spec }) => clock.now() - Date.parse(spec?.renewTime ?? "") < 10_000),
      [true, true],
    );
    const end = new AbortController();
    let renewals = 0;
    const following = (async () => {
      for await (const event of client.watch(Lease, { ...LEASES, signal: end.signal }))
        if (event.type === "MODIFIED") renewals++;
    })();
    await pass(HOUR);
    assert.ok(renewals > 2 * 350 && renewals < 2 * 370, `${renewals}`);
    end.abort();
    await following;
    await pass(HOUR);
    assert.equal(
      (await wait(client.get(Node, "a"))).status?.conditions?.find(({ type }) => type === "Ready")?.status,
      "True",
    );
  }));

test("a watch of the leases that begins before there are nodes gets every renewal as well", async () => {
  const clock = new VirtualClock();
  await using cluster = await startCluster({ clock, nodes: [node("a")] });
  const end = new AbortController();
  let renewals = 0;
  const following = (async () => {
    for await (const event of cluster.client.watch(Lease, { ...LEASES, signal: end.signal }))
      if (event.type === "MODIFIED") renewals++;
  })();
  await clock.advance(200_000);
  assert.ok(renewals >= 18 && renewals <= 21, `${renewals}`);
  end.abort();
  await following;
});

test("a lease that is deleted exists again for the next reader", () =>
  onNodes([node("a")], async ({ cluster: { client }, wait, pass }) => {
    await pass(HOUR);
    await wait(client.delete(Lease, "kube-node-lease/a"));
    await pass(HOUR);
    assert.equal((await wait(client.get(Lease, "kube-node-lease/a"))).spec?.holderIdentity, "a");
  }));

test("a node that falls silent is alive until then, and lost after its grace", () =>
  onNodes([node("a")], async ({ cluster: { client }, wait, pass }) => {
    await pass(HOUR);
    const ready = async () =>
      (await wait(client.get(Node, "a"))).status?.conditions?.find(({ type }) => type === "Ready")?.status;
    await wait(
      client.patch(Node, "a", { merge: { metadata: { annotations: { "sim.konverge.dev/kubelet": "stopped" } } } }),
    );
    await pass(45_000);
    assert.equal(await ready(), "True");
    await pass(10_000);
    assert.equal(await ready(), "Unknown");
    await wait(client.patch(Node, "a", { merge: { metadata: { annotations: { "sim.konverge.dev/kubelet": null } } } }));
    await pass(1_000);
    assert.equal(await ready(), "True");
  }));
