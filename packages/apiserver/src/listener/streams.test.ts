import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import type { ApiRequest, Clock, Transport } from "@konverge/core";
import { clock, http1, http2, tls, turn, until } from "../../test/clients.ts";
import { listen } from "./listen.ts";

const stream = (body: AsyncIterable<string | Uint8Array>) => ({
  status: 200,
  headers: { "content-type": "application/json" },
  body,
});

/** A watch that sends what the test gives it, until its client or its server disconnects. */
function watch() {
  const lines: string[] = [];
  const state = { ended: 0, reason: "" };
  const sleepers = new Set<() => void>();
  const wake = () => {
    for (const sleeper of sleepers) sleeper();
    sleepers.clear();
  };
  const transport: Transport = async ({ signal }: ApiRequest) => {
    signal?.addEventListener("abort", () => {
      state.reason = String((signal.reason as Error).message);
      wake();
    });
    async function* events() {
      try {
        for (let next = 0; !signal?.aborted; ) {
          if (next < lines.length) yield lines[next++]!;
          else await new Promise<void>((resolve) => sleepers.add(resolve));
        }
      } finally {
        state.ended++;
      }
    }
    return stream(events());
  };
  const say = (line: string) => {
    lines.push(line);
    wake();
  };
  return { transport, say, state };
}

test("a watch begins before its first event, and each event comes as it happens", async () => {
  const { transport, say, state } = watch();
  await using listener = await listen(transport, { tls });
  const one = http1(listener.url);
  const first = await one.begin({ path: "/watch" });
  assert.equal(first.statusCode, 200);
  say("a\n");
  assert.equal(String((await once(first, "data"))[0]), "a\n");
  say("b\n");
  assert.equal(String((await once(first, "data"))[0]), "b\n");

  const two = http2(listener.url);
  const second = two.begin({ path: "/watch" });
  await once(second, "response");
  assert.equal(String((await once(second, "data"))[0]), "a\nb\n");
  one.close();
  two.close();
  await until(() => state.ended === 2);
});

test("what comes at once goes out at once, not in a thousand packets", async () => {
  async function* many() {
    for (let i = 0; i < 1000; i++) yield `event ${i}\n`;
  }
  await using listener = await listen(async () => stream(many()), { tls });
  const client = http1(listener.url);
  const incoming = await client.begin({});
  let pieces = 0;
  let text = "";
  for await (const chunk of incoming) {
    pieces++;
    text += chunk;
  }
  assert.equal(text.split("\n").length, 1001);
  assert.ok(pieces < 50, `${pieces} pieces`);
  client.close();
});

test("a client that does not read blocks its own stream, and no other", async () => {
  for (const protocol of ["one", "two"] as const) {
    let made = 0;
    let ended = false;
    const size = 64 * 1024;
    async function* endless() {
      try {
        for (;;) {
          made++;
          yield Buffer.alloc(size, "x");
          await turn();
        }
      } finally {
        ended = true;
      }
    }
    const transport: Transport = async ({ path }) =>
      path === "/endless" ? stream(endless()) : { status: 200, headers: {}, body: "quick" };
    await using listener = await listen(transport, { tls });
    const slow = protocol === "one" ? http1(listener.url) : http2(listener.url);
    const source = await slow.begin({ path: "/endless" });
    source.pause();
    await until(() => made > 1);
    // It stops once the buffers of both kernels are full.
    let quiet = 0;
    for (let before = made; quiet < 300; before = made) {
      await turn();
      quiet = made === before ? quiet + 1 : 0;
      assert.ok(made * size < 64 * 1024 * 1024, "it never stopped");
    }
    const other = http1(listener.url);
    assert.equal((await other.ask({})).body.toString(), "quick");
    other.close();

    const before = made;
    let read = 0;
    source.on("data", (chunk: Buffer) => {
      read += chunk.length;
    });
    source.resume();
    await until(() => made > before + 50 && read > 0);
    slow.close();
    await until(() => ended);
  }
});

test("a client that disconnects ends its stream", async () => {
  for (const make of [http1, http2]) {
    const { transport, say, state } = watch();
    await using listener = await listen(transport, { tls });
    const client = make(listener.url);
    const source = await client.begin({});
    say("a\n");
    await once(source, "data");
    source.destroy();
    await until(() => state.ended === 1);
    assert.equal(state.reason, "the client is gone");
    client.close();
  }
});

test("a request whose client disconnects before the response is aborted", async () => {
  let signal: AbortSignal | undefined;
  const transport: Transport = (request) => {
    signal = request.signal;
    return new Promise((_resolve, reject) =>
      request.signal?.addEventListener("abort", () => reject(request.signal?.reason)),
    );
  };
  await using listener = await listen(transport, { tls, onError: () => assert.fail("no error is reported") });
  const client = http1(listener.url);
  const outgoing = client.open({});
  outgoing.on("error", () => {});
  outgoing.end();
  await until(() => signal !== undefined);
  outgoing.destroy();
  await until(() => signal!.aborted);
  client.close();
});

test("a stream that breaks looks broken to the client, not complete", async () => {
  const errors: unknown[] = [];
  async function* breaking() {
    yield "half";
    throw new Error("broken");
  }
  await using listener = await listen(async () => stream(breaking()), { tls, onError: (error) => errors.push(error) });
  for (const make of [http1, http2]) {
    const client = make(listener.url);
    await assert.rejects(client.ask({}), /aborted|ECONNRESET|closed with error|cancel/i);
    client.close();
  }
  assert.equal(errors.length, 2);
});

test("closing ends watches cleanly, completes responses and accepts no new connections", async () => {
  const { transport, say, state } = watch();
  let release = () => {};
  const both: Transport = (request) =>
    request.path === "/slow"
      ? new Promise((resolve) => {
          release = () => resolve({ status: 200, headers: {}, body: "finished" });
        })
      : transport(request);
  const listener = await listen(both, { tls });
  const [one, two, idle] = [http1(listener.url), http2(listener.url), http1(listener.url)];
  const first = await one.begin({ path: "/watch" });
  const second = two.begin({ path: "/watch" });
  await once(second, "response");
  say("a\n");
  const slow = http1(listener.url);
  const answer = slow.ask({ path: "/slow" });
  await until(() => release.toString().includes("resolve"));

  const closed = listener.close();
  assert.equal(await textOf(first), "a\n");
  assert.equal(await textOf(second), "a\n");
  assert.equal(state.ended, 2);
  assert.equal(state.reason, "the server is shutting down");
  await assert.rejects(idle.ask({}), /ECONNREFUSED|ECONNRESET|hang up/);
  release();
  const { body, headers } = await answer;
  assert.equal(body.toString(), "finished");
  assert.equal(headers["connection"], "close");
  await closed;
  await listener.close();
  for (const client of [one, two, idle, slow]) client.close();
});

test("closing cuts what does not end in time", async () => {
  let expire = () => {};
  const impatient: Clock = {
    ...clock,
    after: (_ms, task) => {
      expire = task;
      return { cancel() {} };
    },
  };
  let reached = false;
  const never: Transport = () => {
    reached = true;
    return new Promise(() => {});
  };
  const listener = await listen(never, { tls, clock: impatient });
  const client = http1(listener.url);
  const answer = client.ask({});
  await until(() => reached);
  const closed = listener.close();
  expire();
  await assert.rejects(answer, /ECONNRESET|hang up/);
  await closed;
  client.close();
});

async function textOf(source: AsyncIterable<Buffer | string>): Promise<string> {
  let text = "";
  for await (const chunk of source) text += chunk;
  return text;
}
