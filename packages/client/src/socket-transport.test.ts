import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { realClock } from "@konverge/core";
import { answer, type Handler, hurriedClock, type LoopbackServer, loopbackServer } from "../test/loopback-server.ts";
import { added, bookmark, Widget, widget } from "../test/scripted-server.ts";
import type { Client } from "./client.ts";
import type { ConnectionConfig } from "./config/connection-config.ts";
import { type ConnectOptions, connect } from "./connect.ts";
import { socketTransport } from "./socket-transport.ts";

/** Runs a test with a client of a loopback server. */
async function between(
  handler: Handler,
  run: (client: Client, server: LoopbackServer) => Promise<void>,
  options: Omit<ConnectOptions, "config"> & { config?: Partial<ConnectionConfig> } = {},
): Promise<void> {
  await using server = await loopbackServer(handler);
  await using client = await connect({ ...options, config: { ...options.config, server: server.url } });
  await run(client, server);
}

const failureOf = (call: Promise<unknown>) =>
  call.then(
    () => assert.fail("it should have failed"),
    (error: { name: string; code: unknown; unknownOutcome?: boolean }) => {
      const { name, code, unknownOutcome } = error;
      return { name, code, unknownOutcome };
    },
  );

const turn = (client: Client) => new Promise<void>((resolve) => client.clock.post(resolve));

const create = (client: Client, timeout?: number) =>
  client.create(Widget, { metadata: { name: "a" } }, timeout === undefined ? {} : { timeout });

/** A minute on a hurried clock: a busy machine takes its time over a request. */
const A_WHILE = 60_000_000;
const hurried = () => ({ clock: hurriedClock(), timeout: A_WHILE });

test("calls one after the other share connections; calls at the same time do not wait for each other", async () => {
  const waiting: (() => void)[] = [];
  await between(
    (request, response) => {
      const reply = () => answer(response, widget("a", "1"));
      if (!request.url.endsWith("/slow")) return reply();
      waiting.push(reply);
      if (waiting.length === 2) waiting.forEach((go) => void go());
    },
    async (client, server) => {
      for (let i = 0; i < 20; i++) await client.get(Widget, "a");
      // A connection rests for a turn after each answer, so two take turns.
      assert.ok(Math.max(...server.received.map(({ connection }) => connection)) <= 2);
      await Promise.all([client.get(Widget, "slow"), client.get(Widget, "slow")]);
    },
  );
});

test("a server that is not there is unreachable, and the outcome of a write to it is known", async () => {
  const { port } = await loopbackServer(() => {}).then(async (server) => {
    await server[Symbol.asyncDispose]();
    return server;
  });
  await using client = await connect({ config: { server: `http://127.0.0.1:${port}` }, retry: false });
  assert.deepEqual(await failureOf(create(client)), {
    name: "TransportError",
    code: "unreachable",
    unknownOutcome: false,
  });
});

test("a server that comes back while a call waits answers it", async () => {
  const first = await loopbackServer(() => {});
  const { port } = first;
  await first[Symbol.asyncDispose]();
  let second: Promise<LoopbackServer> | undefined;
  const clock = hurriedClock();
  await using client = await connect({
    config: { server: `http://127.0.0.1:${port}` },
    timeout: A_WHILE,
    clock: {
      ...clock,
      // The wait before the next try is when the server comes back.
      after: (ms, task, options) => {
        if (!options?.label?.startsWith("retry")) return clock.after(ms, task, options);
        second ??= loopbackServer((_request, response) => answer(response, widget("a", "1")), port);
        void second.then(task);
        return { cancel: () => {} };
      },
    },
  });
  assert.equal((await create(client)).metadata.name, "a");
  await (await second)![Symbol.asyncDispose]();
});

test("a connection killed after the request leaves the outcome of a write unknown, and it is not repeated", async () => {
  await between(
    (_request, _response, socket) => socket.destroy(),
    async (client, server) => {
      assert.deepEqual(await failureOf(create(client)), {
        name: "TransportError",
        code: "closed",
        unknownOutcome: true,
      });
      assert.equal(server.received.length, 1);
    },
  );
});

test("an answer cut short is noticed; a read is repeated, the outcome of a write is unknown", async () => {
  const truncated: Handler = (_request, response, socket) => {
    response.writeHead(200, { "content-length": "1000" });
    response.write('{"kind":"Wid', () => socket.destroy());
  };
  await between(truncated, async (client) => {
    assert.deepEqual(await failureOf(create(client)), { name: "TransportError", code: "closed", unknownOutcome: true });
  });
  let tries = 0;
  const better: Handler = (request, response, socket) =>
    tries++ < 2 ? truncated(request, response, socket) : answer(response, widget("a", "1"));
  await between(better, async (client) => assert.equal((await client.get(Widget, "a")).metadata.name, "a"), hurried());
});

test("a chunked response that never ends is aborted at the deadline, and the connection is closed", async () => {
  const closed = Promise.withResolvers<void>();
  await between(
    (_request, response, socket) => {
      socket.once("close", () => closed.resolve());
      response.writeHead(200, { "content-type": "application/json" });
      response.write('{"kind":');
    },
    async (client) => {
      assert.deepEqual(await failureOf(client.get(Widget, "a", { timeout: 500 })), {
        name: "TransportError",
        code: "timeout",
        unknownOutcome: false,
      });
      await closed.promise;
    },
  );
});

test("without an answer a call ends at the deadline; the outcome of a write is then unknown", async () => {
  await between(
    () => {},
    async (client) => {
      assert.deepEqual(await failureOf(create(client, 50)), {
        name: "TransportError",
        code: "timeout",
        unknownOutcome: true,
      });
    },
  );
});

test("429 with Retry-After is obeyed", async () => {
  let tries = 0;
  await between(
    (_request, response) =>
      tries++ === 0 ? answer(response, {}, 429, { "retry-after": "3" }) : answer(response, widget("a", "1"), 201),
    async (client, server) => {
      await create(client);
      assert.equal(server.received.length, 2);
    },
    hurried(),
  );
});

test("a token that has expired is replaced from its file, and the call goes through", async () => {
  const folder = mkdtempSync(join(tmpdir(), "konverge-token-"));
  const file = join(folder, "token");
  writeFileSync(file, "old");
  await between(
    (request, response) => {
      if (request.headers.authorization === "Bearer new") return answer(response, widget("a", "1"), 201);
      writeFileSync(file, "new");
      answer(response, { kind: "Status", code: 401, reason: "Unauthorized" }, 401);
    },
    async (client, server) => {
      await create(client);
      assert.deepEqual(
        server.received.map(({ headers }) => headers.authorization),
        ["Bearer old", "Bearer new"],
      );
    },
    { config: { credentials: { token: { file } } } },
  ).finally(() => rmSync(folder, { recursive: true }));
});

test("a refused token that cannot be replaced is the server's 401", async () => {
  await between(
    (_request, response) => answer(response, { kind: "Status", code: 401, reason: "Unauthorized" }, 401),
    async (client, server) => {
      assert.equal((await failureOf(create(client))).code, 401);
      assert.equal(server.received.length, 1);
    },
    { config: { credentials: { token: { value: "bad" } } } },
  );
});

test("an ID token that has expired is renewed at its provider", async () => {
  const jwt = (exp: number) => `h.${Buffer.from(JSON.stringify({ exp })).toString("base64url")}.s`;
  const fresh = jwt(2 ** 40);
  await using provider = await loopbackServer((request, response) => {
    if (request.method === "GET") answer(response, { token_endpoint: `${provider.url}/token` });
    else answer(response, { id_token: fresh });
  });
  const oidc = { issuerUrl: provider.url, clientId: "me", refreshToken: "again", idToken: jwt(1) };
  await between(
    (_request, response) => answer(response, widget("a", "1")),
    async (client, server) => {
      await client.get(Widget, "a");
      assert.equal(server.received[0]!.headers.authorization, `Bearer ${fresh}`);
      assert.equal(provider.received[1]!.body, "grant_type=refresh_token&refresh_token=again&client_id=me");
    },
    { config: { credentials: { oidc } } },
  );
});

test("a compressed answer is read as it was", async () => {
  const many = {
    kind: "WidgetList",
    metadata: {},
    items: Array.from({ length: 2000 }, (_, i) => widget(`w${i}`, "1")),
  };
  const body = gzipSync(JSON.stringify(many));
  await between(
    (request, response) => {
      assert.equal(request.headers["accept-encoding"], "gzip");
      response.writeHead(200, { "content-encoding": "gzip", "content-length": body.length });
      response.end(body);
    },
    async (client) => assert.equal((await client.list(Widget)).items.length, 2000),
    { config: { compression: true } },
  );
});

test("a response is decompressed only if the transport asked for compression, and its headers then describe what is left", async () => {
  const body = gzipSync("x".repeat(1000));
  await using server = await loopbackServer((_request, response) => {
    response.writeHead(200, { "content-encoding": "gzip", "content-length": body.length });
    response.end(body);
  });
  const responseWith = async (compression: boolean) => {
    const { transport, close } = socketTransport({ server: server.url, compression }, { clock: realClock() });
    const { headers, body } = await transport({ method: "GET", path: "/", headers: { "accept-encoding": "gzip" } });
    const chunks = body instanceof Uint8Array ? [body] : await Array.fromAsync(body as AsyncIterable<Uint8Array>);
    const bytes = Buffer.concat(chunks);
    await close();
    return { coding: headers["content-encoding"], length: headers["content-length"], bytes };
  };
  assert.deepEqual(await responseWith(false), { coding: "gzip", length: String(body.length), bytes: body });
  const plain = { coding: undefined, length: undefined, bytes: Buffer.from("x".repeat(1000)) };
  assert.deepEqual(await responseWith(true), plain);
});

test("a compressed answer cut short is a typed error", async () => {
  const body = gzipSync("x".repeat(100_000));
  await between(
    (_request, response) => {
      response.writeHead(200, { "content-encoding": "gzip" });
      response.end(body.subarray(0, body.length / 2));
    },
    async (client) => assert.equal((await failureOf(client.list(Widget))).code, "closed"),
    { config: { compression: true }, retry: false },
  );
});

test("a server behind a path, a password and another TLS server name", async () => {
  await using server = await loopbackServer((_request, response) => answer(response, widget("a", "1")));
  await using client = await connect({
    config: {
      server: `${server.url}/k8s/clusters/c-1/`,
      credentials: { username: "me", password: "pw" },
      impersonate: { user: "jane", groups: ["dev", "ops"], extra: { "acme.com/Scope": ["a"] } },
    },
  });
  await client.get(Widget, "a");
  const [request] = server.received;
  assert.equal(request!.url, "/k8s/clusters/c-1/apis/example.com/v1/namespaces/default/widgets/a");
  assert.equal(request!.headers.authorization, `Basic ${Buffer.from("me:pw").toString("base64")}`);
  assert.equal(request!.headers["impersonate-user"], "jane");
  assert.equal(request!.headers["impersonate-extra-acme.com%2fscope"], "a");
  const groups = request!.rawHeaders.filter(
    (_, i, all) => i % 2 === 1 && all[i - 1]!.toLowerCase() === "impersonate-group",
  );
  assert.deepEqual(groups, ["dev", "ops"]);
});

test("a watch whose connection is killed again and again loses nothing", async () => {
  const total = 40;
  let next = 1;
  await between(
    (request, response, socket) => {
      const query = new URL(request.url, "http://x").searchParams;
      response.writeHead(200);
      if (query.get("sendInitialEvents")) response.write(`${JSON.stringify(bookmark("0", true))}\n`);
      next = Number(query.get("resourceVersion") || 0) + 1;
      let lines = "";
      for (let i = 0; i < 3 && next <= total; i++, next++) {
        lines += `${JSON.stringify(added(widget(`w${next}`, String(next))))}\n`;
      }
      // The last line is cut in the middle: it must come again, whole.
      response.write(lines.slice(0, -20), () => socket.destroy());
    },
    async (client) => {
      const observed: string[] = [];
      let errors = 0;
      for await (const event of client.watch(Widget)) {
        if (event.type === "ERROR") errors++;
        if (event.type === "ADDED") observed.push(event.object.metadata.name);
        if (observed.length === total - 1) break;
      }
      assert.deepEqual(
        observed,
        Array.from({ length: total - 1 }, (_, i) => `w${i + 1}`),
      );
      assert.ok(errors > 5);
    },
    hurried(),
  );
});

test("leaving a watch closes its connection", async () => {
  const closed = Promise.withResolvers<void>();
  await between(
    (_request, response, socket) => {
      socket.once("close", () => closed.resolve());
      response.writeHead(200);
      response.write(`${JSON.stringify(bookmark("1", true))}\n`);
    },
    async (client) => {
      for await (const event of client.watch(Widget)) if (event.type === "SYNCED") break;
      await closed.promise;
    },
  );
});

test("a consumer that does not keep up holds the connection up, and still gets everything", async () => {
  const lines = Array.from({ length: 3000 }, (_, i) => {
    const object = widget(`w${i}`, String(i + 2));
    return `${JSON.stringify(added({ ...object, metadata: { ...object.metadata, annotations: { pad: "x".repeat(1000) } } }))}\n`;
  });
  await between(
    (_request, response) => {
      response.writeHead(200);
      response.write(`${JSON.stringify(bookmark("1", true))}\n`);
      for (const line of lines) response.write(line);
    },
    async (client, server) => {
      let count = 0;
      for await (const event of client.watch(Widget)) {
        if (event.type === "ADDED" && ++count % 500 === 0) await turn(client);
        if (count === lines.length) break;
      }
      assert.equal(server.received.length, 1);
    },
  );
});

test("closing the client ends calls in progress", async () => {
  await between(
    () => {},
    async (client, server) => {
      const outcome = failureOf(client.get(Widget, "a", {}));
      while (server.received.length === 0) await turn(client);
      await client.close();
      assert.equal((await outcome).code, "closed");
    },
    { retry: false },
  );
});
