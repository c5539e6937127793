import assert from "node:assert/strict";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { createAuthority } from "@konverge/certificates";
import { type ApiRequest, type ApiResponse, notFound, type Transport } from "@konverge/core";
import { authority, clock, http1, http2, tls } from "../../test/clients.ts";
import { emptyStore } from "../../test/role-store.ts";
import { AccessControl } from "../auth/access-control.ts";
import { ensureDefaultRoles } from "../auth/rbac/default-roles.ts";
import { Guard } from "../guard.ts";
import { listen } from "./listen.ts";
import { ConnectionReset } from "./outgoing.ts";

const text = (body: string, status = 200): ApiResponse => ({ status, headers: { "content-type": "text/plain" }, body });

/** Answers with what it was asked. */
const mirror: Transport = async ({ method, path, headers, body }: ApiRequest) =>
  text(JSON.stringify({ method, path, headers, body: body && Buffer.from(body).toString() }));

test("one port answers HTTP/1.1 and HTTP/2, the same", async () => {
  await using listener = await listen(mirror, { tls });
  const clients = { one: http1(listener.url), two: http2(listener.url) };
  for (const [name, client] of Object.entries(clients)) {
    const answer = await client.ask({
      method: "POST",
      path: "/api/v1/pods?limit=5&x=%2F",
      headers: { "impersonate-group": ["a", "b, c"], accept: "*/*" },
      body: "grüße",
    });
    assert.equal(answer.status, 200, name);
    assert.equal(answer.headers["content-length"], String(answer.body.length));
    const received = JSON.parse(answer.body.toString()) as ApiRequest;
    assert.equal(received.path, "/api/v1/pods?limit=5&x=%2F");
    assert.equal(received.method, "POST");
    assert.equal(received.body, "grüße");
    assert.deepEqual(received.headers["impersonate-group"], ["a", "b, c"]);
    assert.equal(received.headers["host"], `127.0.0.1:${listener.port}`);
    assert.equal((await client.ask({ method: "HEAD" })).body.length, 0);
    client.close();
  }
});

test("requests use a connection again", async () => {
  await using listener = await listen(mirror, { tls });
  const client = http1(listener.url);
  const connections = new Set<object>();
  for (let i = 0; i < 5; i++) {
    const incoming = await client.begin({});
    connections.add(incoming.socket);
    for await (const _ of incoming);
  }
  assert.equal(connections.size, 1);
  client.close();
});

test("large responses are compressed for clients that accept it", async () => {
  const large = "x".repeat(200 * 1024);
  await using listener = await listen(async ({ path }) => text(path === "/small" ? "x".repeat(1000) : large), { tls });
  const clients = [http1(listener.url), http2(listener.url)];
  for (const client of clients) {
    const zipped = await client.ask({ headers: { "accept-encoding": "br, gzip" } });
    assert.equal(zipped.headers["content-encoding"], "gzip");
    assert.match(String(zipped.headers["vary"]), /Accept-Encoding/);
    assert.ok(zipped.body.length < 5000);
    assert.equal(gunzipSync(zipped.body).toString(), large);
    for (const [path, encoding] of [
      ["/", undefined],
      ["/", "gzip;q=0"],
      ["/", "br"],
      ["/small", "gzip"],
    ] as const) {
      const plain = await client.ask({ path, headers: encoding ? { "accept-encoding": encoding } : {} });
      assert.equal(plain.headers["content-encoding"], undefined, `${path} ${encoding}`);
      assert.equal(plain.body.length, path === "/" ? large.length : 1000);
    }
    client.close();
  }
});

test("a body that is too large is refused, whether or not it says so", async () => {
  let reached = 0;
  const count: Transport = async (request) => {
    reached += 1;
    return mirror(request);
  };
  await using listener = await listen(count, { tls, largestBody: 100_000 });
  for (const chunked of [false, true]) {
    for (const client of [http1(listener.url), http2(listener.url)]) {
      const { status, body } = await client.ask({ method: "POST", body: Buffer.alloc(100_001), chunked });
      assert.equal(status, 413);
      assert.deepEqual(JSON.parse(body.toString()), {
        kind: "Status",
        apiVersion: "v1",
        metadata: {},
        status: "Failure",
        message: "Request entity too large: limit is 100000",
        reason: "RequestEntityTooLarge",
        code: 413,
      });
      client.close();
    }
  }
  assert.equal(reached, 0);
  const client = http1(listener.url);
  assert.equal((await client.ask({ method: "POST", body: Buffer.alloc(100_000) })).status, 200);
  client.close();
});

test("the limit is three mebibytes unless another is given", async () => {
  await using listener = await listen(async () => text("ok"), { tls });
  const client = http2(listener.url);
  const limit = 3 * 1024 * 1024;
  assert.equal((await client.ask({ method: "POST", body: Buffer.alloc(limit) })).status, 200);
  assert.equal((await client.ask({ method: "POST", body: Buffer.alloc(limit + 1) })).status, 413);
  client.close();
});

test("errors of the API are responses, errors of the server are a 500 and reported to onError", async () => {
  const errors: string[] = [];
  const broken: Transport = async ({ path }) => {
    throw path === "/gone" ? notFound({ group: "", plural: "pods" }, "x") : new Error("a secret detail");
  };
  await using listener = await listen(broken, { tls, onError: (error, { path }) => errors.push(`${path}: ${error}`) });
  const client = http1(listener.url);
  assert.equal((await client.ask({ path: "/gone" })).status, 404);
  const failed = await client.ask({ path: "/broken" });
  assert.equal(failed.status, 500);
  assert.doesNotMatch(failed.body.toString(), /secret/);
  assert.deepEqual(errors, ["/broken: Error: a secret detail"]);
  client.close();
});

test("plain HTTP is served when asked for, also to clients that offer h2c", async () => {
  await using listener = await listen(mirror, { tls: "plain" });
  assert.match(listener.url, /^http:/);
  const client = http1(listener.url);
  assert.equal((await client.ask({})).status, 200);
  const offered = {
    connection: "Upgrade, HTTP2-Settings",
    upgrade: "h2c",
    "http2-settings": "AAMAAABkAAQAoAAAAAIAAAAA",
  };
  assert.equal((await client.ask({ headers: offered })).status, 200);
  client.close();
});

test("without a guard, web pages that reach this machine by their own name are refused", async () => {
  await using listener = await listen(mirror, { tls: "plain" });
  const client = http1(listener.url);
  const status = async (headers: Record<string, string>) => (await client.ask({ headers })).status;
  assert.equal(await status({ host: "attacker.example:80" }), 403);
  assert.equal(await status({ origin: "https://attacker.example" }), 403);
  assert.equal(await status({ origin: "null" }), 403);
  assert.equal(await status({ host: "localhost:1", origin: "http://localhost:3000" }), 200);
  assert.equal(await status({ host: "[::1]:1" }), 200);
  client.close();
});

function guard(): Guard {
  const { store } = emptyStore();
  ensureDefaultRoles(store, clock);
  return new Guard({
    access: new AccessControl({ store, clock }),
    answer: async (_request, _info, user) => text(`${user.name} ${user.groups}`),
  });
}

test("client certificates authenticate clients, on both protocols", async () => {
  await using listener = await listen(guard(), { tls });
  const admin = authority.client("root", ["system:masters", "ops"]);
  const stranger = createAuthority(clock, { name: "stranger" }).client("root", ["system:masters"]);
  for (const make of [http1, http2]) {
    const ask = async (credential?: { cert: string; key: string }) => {
      const client = make(listener.url, credential);
      const { status, body } = await client.ask({ path: "/version" });
      client.close();
      return `${status} ${body}`;
    };
    assert.equal(await ask(admin), "200 root system:masters,ops,system:authenticated");
    assert.equal(await ask(), "200 system:anonymous system:unauthenticated");
    assert.match(await ask(stranger), /^401 .*Unauthorized/);
  }
});

test("a session that is resumed is still the same client's", async () => {
  await using listener = await listen(guard(), { tls });
  const client = http1(listener.url, authority.client("root", ["system:masters"]));
  for (let i = 0; i < 3; i++) {
    const { body } = await client.ask({ path: "/version", headers: { connection: "close" } });
    assert.match(body.toString(), /^root system:masters/);
  }
  client.close();
});

test("a server without authentication cannot be reached from another machine", async () => {
  for (const host of ["0.0.0.0", "::", "192.0.2.1", "example.com"]) {
    await assert.rejects(
      listen(mirror, { tls, host }),
      /without authentication: every machine on the network would have all permissions/,
    );
    await assert.rejects(listen(guard(), { tls: "plain", host }), /without TLS: tokens could be read/);
  }
  for (const host of ["127.0.0.1", "127.1.2.3", "localhost"]) await (await listen(mirror, { tls, host })).close();
});

test("a port that is taken is said to be", async () => {
  await using first = await listen(mirror, { tls: "plain" });
  await assert.rejects(listen(mirror, { tls, port: first.port }), /port \d+: the port is in use: choose another one/);
});

test("a request whose connection is reset gets no answer, and the server is not at fault", async () => {
  const faults: unknown[] = [];
  async function* cut() {
    yield "a line\n";
    throw new ConnectionReset();
  }
  const resetting: Transport = async ({ path }) => {
    if (path === "/stream") return { status: 200, headers: {}, body: cut() };
    throw new ConnectionReset();
  };
  await using listener = await listen(resetting, { tls, onError: (error) => faults.push(error) });
  for (const open of [http1, http2]) {
    const client = open(listener.url);
    await assert.rejects(client.ask({ path: "/" }), /ECONNRESET|hang up|INTERNAL_ERROR/, open.name);
    await assert.rejects(client.ask({ path: "/stream" }), /ECONNRESET|aborted|hang up|INTERNAL_ERROR/, open.name);
    client.close();
  }
  assert.deepEqual(faults, []);
});
