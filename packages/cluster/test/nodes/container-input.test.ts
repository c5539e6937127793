import assert from "node:assert/strict";
import { test } from "node:test";
import { type Container, Pod } from "@konverge/kinds";
import { node, onNodes, type VirtualNodes } from "./virtual-nodes.ts";

const nodes = [node("one")];
const script = "echo -n read: && cat && echo closed";

/** A pod whose container copies its input to its output. */
const copying = (stage: VirtualNodes, more: Partial<Container>) =>
  stage
    .pod("p", {
      restartPolicy: "Never",
      containers: [{ name: "main", image: "busybox", command: ["sh", "-c", script], ...more }],
    })
    .then(() => stage.pass(2_000));
const phase = async (stage: VirtualNodes) => (await stage.get("p")).status?.phase;
const logs = async ({ cluster, wait }: VirtualNodes) =>
  (await wait(Array.fromAsync(cluster.client.logs("default/p")))).join("\n");

/** Attaches, sends a text and ends the input; resolves to what the container has written since. */
async function send(stage: VirtualNodes, text: string): Promise<string> {
  const attached = await stage.wait(stage.cluster.client.attach("default/p", { stdin: true }));
  attached.write(text);
  attached.end();
  await stage.pass(2_000);
  return (await stage.wait(attached.output())).stdout;
}

test("a container with stdin waits for a client, and with stdinOnce the client's end of input is its own", () =>
  onNodes(nodes, async (stage) => {
    await copying(stage, { stdin: true, stdinOnce: true });
    assert.equal(await phase(stage), "Running");
    assert.equal(await send(stage, "one\ntwo"), "read:one\ntwoclosed\n");
    assert.equal(await phase(stage), "Succeeded");
    assert.equal(await logs(stage), "read:one\ntwoclosed");
  }));

test("without stdinOnce, a client is detached when its input ends, and the input stays open for the next one", () =>
  onNodes(nodes, async (stage) => {
    await copying(stage, { stdin: true });
    await send(stage, "one\n");
    await send(stage, "two\n");
    assert.equal(await logs(stage), "read:one\ntwo");
    assert.equal(await phase(stage), "Running");
  }));

test("without stdin, the input is empty", () =>
  onNodes(nodes, async (stage) => {
    await copying(stage, {});
    assert.equal(await phase(stage), "Succeeded");
    assert.equal(await logs(stage), "read:closed");
  }));

test("a container that waits for input ends when its pod is deleted", () =>
  onNodes(nodes, async (stage) => {
    await copying(stage, { stdin: true });
    const attached = await stage.wait(stage.cluster.client.attach("default/p", { stdin: true }));
    await stage.wait(stage.cluster.client.delete(Pod, "default/p"));
    await stage.pass(60_000);
    await assert.rejects(stage.get("p"), /not found/);
    attached.close();
  }));
