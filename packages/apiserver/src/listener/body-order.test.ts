import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { connect, type TLSSocket } from "node:tls";
import { authority, http1, http2, tls, until } from "../../test/clients.ts";
import { emptyStore, putObjects } from "../../test/role-store.ts";
import { AccessControl } from "../auth/access-control.ts";
import { ensureDefaultRoles } from "../auth/rbac/default-roles.ts";
import type { User } from "../auth/user.ts";
import { Guard } from "../guard.ts";
import { BodyBudget } from "./body-budget.ts";
import { listen } from "./listen.ts";

const RBAC = "rbac.authorization.k8s.io";
const KIBIBYTE = 1024;
const WRITE = { method: "POST", path: "/api/v1/namespaces/a/configmaps" };

/** A server where `anonymous` decides whether clients without credentials may write. It answers with the size of the body. */
async function serve({ anonymous = false, mostBodies = 8 * 1024 * KIBIBYTE } = {}) {
  const { store, clock } = emptyStore();
  ensureDefaultRoles(store, clock);
  if (anonymous) {
    putObjects(store, `${RBAC}/clusterrolebindings`, {
      kind: "ClusterRoleBinding",
      metadata: { name: "open" },
      subjects: [{ kind: "Group", name: "system:unauthenticated" }],
      roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: "cluster-admin" },
    });
  }
  const guard = new Guard({
    access: new AccessControl({ store, clock }),
    answer: async ({ body }) => ({ status: 201, headers: {}, body: String(body?.length ?? 0) }),
  });
  return listen(guard, { tls, mostBodies, grace: 10 });
}

/** A connection without credentials that announces a body, sends a part of it, and keeps the rest back. */
async function holdBody(port: number): Promise<{ socket: TLSSocket; status: () => number }> {
  const socket = connect({ port, host: "127.0.0.1", ca: authority.cert, servername: "localhost" }).on(
    "error",
    () => {},
  );
  let answer = "";
  socket.on("data", (chunk: Buffer) => {
    answer += chunk.toString();
  });
  await once(socket, "secureConnect");
  socket.write(`POST ${WRITE.path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${200 * KIBIBYTE}\r\n\r\n`);
  await new Promise<void>((sent) => socket.write(Buffer.alloc(100 * KIBIBYTE), () => sent()));
  return { socket, status: () => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0) };
}

test("clients without permission are answered before their bodies are read, and 140 of them hold up no writes", async () => {
  await using listener = await serve();
  const held = await Promise.all(Array.from({ length: 140 }, () => holdBody(listener.port)));
  const admin = http1(listener.url, authority.client("root", ["system:masters"]));
  for (let i = 0; i < 20; i++) {
    const { status, body } = await admin.ask({ ...WRITE, body: Buffer.alloc(1000 * KIBIBYTE) });
    assert.deepEqual([status, body.toString()], [201, String(1000 * KIBIBYTE)]);
  }
  await until(() => held.every(({ status }) => status() === 403));
  admin.close();
  for (const { socket } of held) socket.destroy();
});

test("clients without credentials share a sixteenth of the memory for bodies, where they may write at all", async () => {
  await using listener = await serve({ anonymous: true });
  const held = await Promise.all(Array.from({ length: 140 }, () => holdBody(listener.port)));
  const isRefused = ({ status }: { status: () => number }) => status() === 429;
  await until(() => held.filter(isRefused).length === 135);
  const admin = http1(listener.url, authority.client("root", ["system:masters"]));
  const user = http2(listener.url, authority.client("jane", ["system:masters-of-none"]));
  assert.equal((await admin.ask({ ...WRITE, body: Buffer.alloc(1000 * KIBIBYTE) })).status, 201);
  assert.equal((await user.ask({ ...WRITE, body: Buffer.alloc(1000 * KIBIBYTE) })).status, 403);
  admin.close();
  user.close();
  for (const { socket } of held) socket.destroy();
});

test("a client reads why it was refused while it still sends, and uses the connection again", async () => {
  await using listener = await serve();
  const client = http1(listener.url);
  for (let i = 0; i < 5; i++) {
    for (const [headers, expected] of [
      [{}, 403],
      [{ authorization: "Bearer wrong" }, 401],
    ] as const) {
      const { status } = await client.ask({ ...WRITE, headers, body: Buffer.alloc(2000 * KIBIBYTE) });
      assert.equal(status, expected);
    }
  }
  client.close();
});

test("a guard with something before it reads the bodies of clients with right credentials only", async () => {
  const { store, clock } = emptyStore();
  ensureDefaultRoles(store, clock);
  const access = new AccessControl({ store, clock, tokens: [{ token: "t", user: { name: "jane", groups: [] } }] });
  const lengths: unknown[] = [];
  const guard = new Guard({ access, answer: async () => ({ status: 200, headers: {}, body: "" }) }).behind(
    (request, next) => {
      lengths.push(request.body?.length);
      return next(request);
    },
  );
  const read: string[] = [];
  const ask = (authorization: string) =>
    guard.handle({ ...WRITE, headers: { authorization } }, { address: "" }, async (user) => {
      read.push(user.name);
      return Buffer.alloc(3);
    });
  assert.equal((await ask("Bearer wrong")).status, 401);
  assert.equal((await ask("Bearer t")).status, 403);
  assert.deepEqual([read, lengths], [["jane"], [undefined, 3]]);
});

const user = (name: string, ...groups: string[]): User => ({ name, groups });

test("no user fills the memory for bodies: administrators and others keep their shares", () => {
  const budget = new BodyBudget(1600);
  const fits = (who: User | undefined, bytes: number) => {
    const held = budget.open(who);
    try {
      held.take(bytes);
      return true;
    } catch (error) {
      assert.equal((error as { code?: number }).code, 429);
      return false;
    }
  };
  assert.ok(fits(user("system:anonymous", "system:unauthenticated"), 100));
  assert.ok(!fits(user("other", "system:unauthenticated"), 1));
  assert.ok(fits(user("jane"), 400));
  assert.ok(!fits(user("jane"), 1));
  assert.ok(fits(user("joe"), 400));
  assert.ok(fits(user("jim"), 300));
  assert.ok(!fits(user("jack"), 1));
  assert.ok(fits(user("root", "system:masters"), 400));
  assert.ok(!fits(user("root", "system:masters"), 1));
});

test("what a request held is there again once it is answered", () => {
  const budget = new BodyBudget(100);
  for (let i = 0; i < 3; i++) {
    const held = budget.open(undefined);
    held.take(60);
    held.take(40);
    assert.throws(() => held.take(1), { code: 429 });
    held.release();
    held.release();
  }
});
