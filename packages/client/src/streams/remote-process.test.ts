import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "@konverge/core";
import { messagePipe, type PipeEnd } from "../../test/message-pipe.ts";
import { scripted } from "../../test/scripted-server.ts";
import { Client } from "../client.ts";
import { TransportError } from "../errors.ts";
import type { AttachOptions } from "./remote-process.ts";

const V5 = "v5.channel.k8s.io";
const success = { kind: "Status", status: "Success" };
const exited = (code: number) => ({
  kind: "Status",
  status: "Failure",
  reason: "NonZeroExitCode",
  details: { causes: [{ reason: "ExitCode", message: String(code) }] },
});

/** Runs a command on a scripted server; the test plays the server's part. */
async function exec(options: AttachOptions = {}, protocol = V5) {
  const [socket, server] = messagePipe(protocol);
  const { transport, requests } = scripted(() => ({ status: 101, headers: {}, body: "", socket }));
  const process = await new Client(transport).exec("prod/web", ["sh", "-c", "echo a b"], options);
  return { process, server, request: requests[0]! };
}

function say(server: PipeEnd, channel: number, data: string | object): void {
  const text = typeof data === "string" ? data : JSON.stringify(data);
  server.send(Buffer.concat([Uint8Array.of(channel), Buffer.from(text)]));
}

test("a command's outputs and exit code come back", async () => {
  const { process, server, request } = await exec({ container: "main" });
  say(server, 1, "");
  say(server, 1, "hello ");
  say(server, 2, "oops");
  say(server, 1, "world");
  say(server, 3, exited(3));
  server.close();
  assert.deepEqual(await process.output(), { code: 3, stdout: "hello world", stderr: "oops" });
  assert.equal(
    request.path,
    "/api/v1/namespaces/prod/pods/web/exec?command=sh&command=-c&command=echo%20a%20b&container=main&stdout=true&stderr=true",
  );
  assert.deepEqual(request.upgrade, [V5, "v4.channel.k8s.io"]);
});

test("input, its end and the terminal's size go to their channels", async () => {
  const { process, server } = await exec({ stdin: true, tty: true });
  process.write("ls\n");
  process.resize({ columns: 80, rows: 24 });
  process.end();
  process.close();
  const sent: Buffer[] = [];
  for await (const message of server.messages) sent.push(Buffer.from(message as Uint8Array));
  assert.deepEqual(
    sent.map((message) => [message[0], message.subarray(1).toString("latin1")]),
    [
      [0, "ls\n"],
      [4, '{"Width":80,"Height":24}'],
      [255, "\0"],
    ],
  );
});

test("protocol version 4 cannot close the input, which is an error", async () => {
  const { process } = await exec({ stdin: true }, "v4.channel.k8s.io");
  assert.throws(() => process.end(), /v4.channel.k8s.io/);
});

test("a command that cannot be run is the server's error", async () => {
  const { process, server } = await exec();
  say(server, 3, {
    kind: "Status",
    status: "Failure",
    reason: "InternalError",
    code: 500,
    message: "no such container",
  });
  server.close();
  await assert.rejects(process.exitCode, (error: unknown) => error instanceof ApiError && error.code === 500);
});

test("a lost connection is an error everywhere, after what had arrived", async () => {
  for (const lose of [(server: PipeEnd) => server.break(new Error("reset")), (server: PipeEnd) => server.close()]) {
    const { process, server } = await exec();
    say(server, 1, "half");
    lose(server);
    await assert.rejects(process.exitCode, (error: unknown) => error instanceof TransportError && error.unknownOutcome);
    const observed: string[] = [];
    await assert.rejects(async () => {
      for await (const chunk of process.stdout) observed.push(Buffer.from(chunk).toString());
    }, TransportError);
    assert.deepEqual(observed, ["half"]);
  }
});

test("a consumer that reads slowly holds the stream up instead of filling memory", async () => {
  const { process, server } = await exec({ stderr: false });
  const chunk = Buffer.alloc(1 << 19, "x").toString();
  for (let i = 0; i < 8; i++) say(server, 1, chunk);
  say(server, 3, success);
  server.close();
  const reader = process.stdout[Symbol.asyncIterator]();
  let total = 0;
  for (let step = await reader.next(); !step.done; step = await reader.next()) total += step.value.length;
  assert.equal(total, 8 << 19);
  assert.equal(await process.exitCode, 0);
});

test("attach requests the streams that its options select", async () => {
  const [socket, server] = messagePipe(V5);
  const { transport, requests } = scripted(() => ({ status: 101, headers: {}, body: "", socket }));
  const process = await new Client(transport).attach("web", { stdin: true, tty: true, stdout: true });
  say(server, 3, success);
  server.close();
  assert.equal(await process.exitCode, 0);
  assert.equal(requests[0]!.path, "/api/v1/namespaces/default/pods/web/attach?stdin=true&stdout=true&tty=true");
});

test("a server that refuses the stream is heard", async () => {
  const refusal = { kind: "Status", status: "Failure", code: 403, reason: "Forbidden", message: "no exec for you" };
  const { transport } = scripted(() => ({ status: 403, headers: {}, body: JSON.stringify(refusal) }));
  await assert.rejects(new Client(transport).exec("web", ["ls"]), /no exec for you/);
});
