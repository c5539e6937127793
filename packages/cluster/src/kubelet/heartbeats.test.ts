import assert from "node:assert/strict";
import { test } from "node:test";
import { plainNodes, startCluster } from "@konverge/cluster";
import { Lease, Node } from "@konverge/kinds";

test("the Lease of a node belongs to the node", async () => {
  await using cluster = await startCluster({ nodes: plainNodes(2) });
  await cluster.settled();
  const { items: nodes } = await cluster.client.list(Node);
  const { items: leases } = await cluster.client.list(Lease, { namespace: "kube-node-lease" });
  assert.equal(nodes.length, 2);
  assert.deepEqual(
    leases.map(({ metadata }) => metadata.ownerReferences),
    nodes.map(({ metadata: { name, uid } }) => [{ apiVersion: "v1", kind: "Node", name, uid }]),
  );
});
