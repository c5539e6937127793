import assert from "node:assert/strict";
import { test } from "node:test";
import { VirtualClock } from "@konverge/core";
import { Pod } from "@konverge/kinds";
import { startCluster } from "../start-cluster.ts";
import { plainNodes } from "./node-shape.ts";

const pod = (name: string, hostIP?: string) =>
  ({
    metadata: { name, namespace: "default" },
    spec: {
      nodeName: "node-1",
      containers: [
        { name: "c", image: "nginx", ports: [{ containerPort: 80, hostPort: 8080, ...(hostIP && { hostIP }) }] },
      ],
    },
  }) as never;

test("a node rejects a pod whose port is taken there, until it is free again", async () => {
  const clock = new VirtualClock();
  await using cluster = await startCluster({ clock, nodes: plainNodes(1) });
  const { client } = cluster;
  await clock.advance(2_000);
  const phase = async (name: string) => (await client.get(Pod, `default/${name}`)).status?.phase;
  await client.create(Pod, pod("first"));
  await clock.advance(2_000);
  await client.create(Pod, pod("second", "10.0.0.1"));
  await clock.advance(2_000);
  assert.equal(await phase("first"), "Running");
  const { status } = await client.get(Pod, "default/second");
  assert.deepEqual([status?.phase, status?.reason], ["Failed", "NodePorts"]);
  assert.equal(
    status?.message,
    "Pod was rejected: Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
  );
  await client.delete(Pod, "default/first");
  await client.delete(Pod, "default/second");
  await clock.advance(60_000);
  await client.create(Pod, pod("third", "10.0.0.1"));
  await client.create(Pod, pod("fourth", "10.0.0.2"));
  await clock.advance(2_000);
  assert.deepEqual([await phase("third"), await phase("fourth")], ["Running", "Running"]);
});
