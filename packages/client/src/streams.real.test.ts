import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { ApiError } from "@konverge/core";
import { Node, Pod } from "@konverge/kinds";
import { findControlPlane, type RealCluster, startRealCluster } from "@konverge/real";
import { type Client, connect, TransportError } from "./index.ts";
import { collectText } from "./streams/byte-queue.ts";

// Another version that has been built: KONVERGE_KUBERNETES=1.34.4.
const kubernetes = process.env.KONVERGE_KUBERNETES;
const plane = findControlPlane(kubernetes);
const options = { skip: plane.available ? noGo() : plane.why };

function noGo(): string | false {
  try {
    execFileSync("go", ["version"], { stdio: "ignore" });
    return false;
  } catch {
    return "no Go on this machine: the node that streams cannot be built";
  }
}

let cluster: RealCluster;
let client: Client;
let node: ChildProcess;
const folder = mkdtempSync(join(tmpdir(), "konverge-streams-"));

before(async () => {
  if (options.skip) return;
  const program = join(folder, "streaming-node");
  const source = join(import.meta.dirname, "..", "test", "streaming-node");
  execFileSync("go", ["build", "-o", program, "."], { cwd: source, env: { ...process.env, CGO_ENABLED: "0" } });
  node = spawn(program, { stdio: ["ignore", "pipe", "ignore"] });
  const [line] = await new Promise<[Buffer]>((resolve) => node.stdout!.once("data", (data) => resolve([data])));
  cluster = await startRealCluster({ ...(kubernetes && { kubernetes }) });
  client = await connect({ kubeconfig: cluster.kubeconfig });
  await client.create(Node, { metadata: { name: "streaming" } });
  await client.patchStatus(Node, "streaming", {
    merge: {
      status: {
        addresses: [{ type: "InternalIP", address: "127.0.0.1" }],
        daemonEndpoints: { kubeletEndpoint: { Port: Number(String(line)) } },
      },
    },
  });
  const spec = { nodeName: "streaming", containers: [{ name: "main", image: "none" }] };
  await client.create(Pod, { metadata: { name: "web" }, spec });
});
after(async () => {
  await client?.close();
  await cluster?.stop();
  node?.kill("SIGKILL");
  rmSync(folder, { recursive: true });
});

test("a command's outputs and exit code, through API server and node", options, async () => {
  const process = await client.exec("web", ["sh", "-c", "echo out; echo err >&2; exit 7"]);
  assert.deepEqual(await process.output(), { code: 7, stdout: "out\n", stderr: "err\n" });
});

test("input reaches the command, and so does its end", options, async () => {
  const process = await client.exec("web", ["sort"], { stdin: true });
  const lines = Array.from({ length: 20_000 }, (_, i) => `line ${String(i).padStart(6, "0")}`);
  process.write(`${lines.toReversed().join("\n")}\n`);
  process.end();
  const { code, stdout } = await process.output();
  assert.equal(code, 0);
  assert.equal(stdout, `${lines.join("\n")}\n`);
});

test("the terminal's size is passed on", options, async () => {
  const process = await client.exec("web", ["terminal-size"], { stdin: true, tty: true });
  process.resize({ columns: 132, rows: 43 });
  assert.equal((await process.output()).stdout, "132x43");
});

test("a command that cannot be run is an error of the server", options, async () => {
  const process = await client.exec("web", ["no-such-command"]);
  await assert.rejects(
    process.output(),
    (error: unknown) => error instanceof ApiError && /no-such-command/.test(error.message),
  );
});

test("attachments carry bytes both ways", options, async () => {
  const process = await client.attach("web", { stdin: true, stderr: false });
  process.write("echo?");
  process.end();
  assert.equal((await process.output()).stdout, "echo?");
});

test("logs come line by line, and keep coming", options, async () => {
  const read = async (follow: boolean) => {
    const lines: string[] = [];
    for await (const line of client.logs("web", { follow })) lines.push(line);
    return lines;
  };
  assert.deepEqual(await read(false), ["first", "", "third"]);
  assert.deepEqual(await read(true), ["first", "", "third", "later 0", "later 1", "later 2"]);
});

test("ports are forwarded, many connections at a time, with much in them", options, async () => {
  const server = createServer({ allowHalfOpen: true }, (socket) => socket.pipe(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  try {
    await using forward = await client.portForward("web");
    const connections = Array.from({ length: 5 }, async (_, i) => {
      const connection = forward.connect(port);
      const sent = `${i}`.repeat(300_000);
      for (let at = 0; at < sent.length; at += 50_000) connection.write(Buffer.from(sent.slice(at, at + 50_000)));
      connection.end();
      assert.equal(await collectText(connection.readable), sent);
    });
    await Promise.all(connections);
  } finally {
    server.close();
  }
});

test("a port without a listener is an error, and others still work", options, async () => {
  await using forward = await client.portForward("web");
  await assert.rejects(
    collectText(forward.connect(1).readable),
    (error: unknown) => error instanceof TransportError && /connection refused/.test(error.message),
  );
});
