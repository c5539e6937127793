import assert from "node:assert/strict";
import { test } from "node:test";
import { startCluster } from "@konverge/cluster";
import { Event, Node } from "@konverge/kinds";
import { node, onNodes, type VirtualNodes } from "./virtual-nodes.ts";

const nodeInfo = { containerRuntimeVersion: "containerd://2.2.1" };
const join = ({ cluster, wait }: VirtualNodes, name: string, spec: object = {}) =>
  wait(cluster.client.create(Node, { metadata: { name }, spec, status: { nodeInfo } } as never));
const rangesOf = async ({ cluster, wait }: VirtualNodes) =>
  Object.fromEntries(
    (await wait(cluster.client.list(Node))).items.map(({ metadata, spec }) => [metadata.name, spec?.podCIDR]),
  );

test("each node gets a range for its pods in turn, beside those that others have", () =>
  onNodes(
    [node("simulated")],
    async (stage) => {
      await join(stage, "own", { podCIDR: "10.244.1.0/24", podCIDRs: ["10.244.1.0/24"] });
      await Promise.all(["a", "b"].map((name) => join(stage, name)));
      await stage.pass(1_000);
      const { simulated, own, a, b } = await rangesOf(stage);
      assert.equal(simulated, "10.244.0.0/24");
      assert.equal(own, "10.244.1.0/24");
      assert.deepEqual([a, b].sort(), ["10.244.2.0/24", "10.244.3.0/24"]);
      await stage.wait(stage.cluster.client.delete(Node, "a"));
      await join(stage, "c");
      await stage.pass(1_000);
      assert.equal((await rangesOf(stage))["c"], "10.244.4.0/24");
    },
    { clusterCidr: "10.244.0.0/16" },
  ));

test("a node for which no range is left gets an event, and the range of a node that goes", () =>
  onNodes(
    [],
    async (stage) => {
      for (const name of ["a", "b", "c"]) await join(stage, name);
      await stage.pass(5_000);
      const ranges = await rangesOf(stage);
      assert.deepEqual(Object.values(ranges).sort(), ["10.88.0.0/24", "10.88.1.0/24", undefined]);
      const left = Object.keys(ranges).find((name) => !ranges[name])!;
      const { items } = await stage.wait(stage.cluster.client.list(Event));
      const message = `Node ${left} status is now: CIDRNotAvailable`;
      assert.ok(items.some((event) => event.reason === "CIDRNotAvailable" && event.message === message));
      const deleted = Object.keys(ranges).find((name) => ranges[name])!;
      await stage.wait(stage.cluster.client.delete(Node, deleted));
      await stage.pass(60_000);
      assert.equal((await rangesOf(stage))[left], ranges[deleted]);
    },
    { clusterCidr: "10.88.0.0/23" },
  ));

test("nodes get nothing that overlaps with the addresses of Services", () =>
  onNodes(
    [],
    async (stage) => {
      await join(stage, "a");
      await stage.pass(1_000);
      assert.equal((await rangesOf(stage))["a"], "10.97.0.0/24");
    },
    { clusterCidr: "10.96.0.0/15" },
  ));

test("a cluster CIDR without room for a node is refused", () =>
  assert.rejects(startCluster({ nodes: [], clusterCidr: "10.88.0.0/25" }), /room for a \/24/));
