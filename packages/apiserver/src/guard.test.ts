import assert from "node:assert/strict";
import { test } from "node:test";
import { type ApiRequest, type HeaderMap, notFound, readText } from "@konverge/core";
import { emptyStore } from "../test/role-store.ts";
import { AuditLog } from "./audit/audit-log.ts";
import { METADATA_POLICY } from "./audit/policy.ts";
import { AccessControl } from "./auth/access-control.ts";
import { ensureDefaultRoles } from "./auth/rbac/default-roles.ts";
import type { User } from "./auth/user.ts";
import { Guard } from "./guard.ts";

function setup() {
  const { store, clock } = emptyStore();
  ensureDefaultRoles(store, clock);
  const tokens = [
    { token: "root", user: { name: "root", groups: ["system:masters"] } },
    { token: "jane", user: { name: "jane", groups: [] } },
  ];
  const handled: { request: ApiRequest; user: User }[] = [];
  const lines: string[] = [];
  const guard = new Guard({
    access: new AccessControl({ store, clock, tokens }),
    audit: new AuditLog({ policy: METADATA_POLICY, clock, sink: { write: (line) => lines.push(line) } }),
    answer: async (request, info, user) => {
      handled.push({ request, user });
      if (info.path === "/version") throw new Error("broken");
      if (info.name === "none") throw notFound({ group: "", plural: "pods" }, "none");
      return { status: 200, headers: { "content-type": "application/json" }, body: "{}\n" };
    },
  });
  const ask = async (path: string, headers: HeaderMap = {}, upgrade?: string[]) => {
    const request = { method: "GET", path, headers, ...(upgrade && { upgrade }) };
    const response = await guard.handle(request, { address: "10.1.2.3" });
    const { message } = JSON.parse(await readText(response.body)) as { message?: string };
    return { status: response.status, headers: response.headers, message };
  };
  return { ask, handled, lines, guard };
}
const as = (token: string): HeaderMap => ({ authorization: `Bearer ${token}` });

test("requests with wrong credentials and requests without permission are refused", async () => {
  const { ask, handled } = setup();
  assert.deepEqual(await ask("/api/v1/pods", as("wrong")), {
    status: 401,
    headers: { "content-type": "application/json" },
    message: "Unauthorized",
  });
  const refused = await ask("/api/v1/pods", as("jane"));
  assert.equal(refused.status, 403);
  assert.match(refused.message!, /^pods is forbidden: User "jane" cannot list/);
  assert.equal((await ask("/api/v1/pods")).status, 403);
  assert.equal((await ask("/api/v1/p%zzods")).status, 400);
  assert.deepEqual(handled, []);
});

test("a request with permission is answered, and its credentials are not passed on", async () => {
  const { ask, handled } = setup();
  const protocols = ["v5.channel.k8s.io", "base64url.bearer.authorization.k8s.io.eA"];
  const answer = await ask("/api/v1/pods", { ...as("root"), accept: "*/*", "audit-id": "given" }, protocols);
  assert.equal(answer.status, 200);
  assert.equal(answer.headers["audit-id"], "given");
  assert.equal(answer.headers["cache-control"], "no-cache, private");
  assert.deepEqual(handled[0]?.request.headers, { accept: "*/*", "audit-id": "given" });
  assert.deepEqual(handled[0]?.request.upgrade, ["v5.channel.k8s.io"]);
});

test("code in the same process acts as a user by the same rules, and is not audited", async () => {
  const { guard, handled, lines } = setup();
  const [root, jane] = [guard.as({ name: "root", groups: ["system:masters"] }), guard.as({ name: "jane", groups: [] })];
  const get = (path: string, headers: HeaderMap = {}) => ({ method: "GET", path, headers });
  assert.equal((await root(get("/api/v1/pods"))).status, 200);
  assert.equal((await jane(get("/api/v1/pods"))).status, 403);
  assert.equal((await root(get("/api/v1/pods", { "impersonate-user": "jane" }))).status, 403);
  assert.equal((await root(get("/api", { "impersonate-user": "jane" }))).status, 200);
  assert.equal((await root(get("/api/v1/p%zzods"))).status, 400);
  const [first, acting] = handled;
  assert.deepEqual(
    [handled.length, first!.user.name, acting!.user.name, acting!.request.headers],
    [2, "root", "jane", {}],
  );
  assert.deepEqual(lines, []);
});

test("an administrator impersonates another user, with the permissions of that user", async () => {
  const { ask, handled, lines } = setup();
  const refused = await ask("/api/v1/pods", { ...as("root"), "impersonate-user": "jane" });
  assert.match(refused.message!, /User "jane" cannot list/);
  assert.equal((await ask("/api", { ...as("root"), "impersonate-user": "jane" })).status, 200);
  assert.equal(handled[0]?.user.name, "jane");
  assert.deepEqual(handled[0]?.request.headers, {});
  assert.match((await ask("/api", { ...as("jane"), "impersonate-user": "root" })).message!, /cannot impersonate/);
  assert.match(lines.at(-2)!, /"user":\{"username":"jane"/);
});

test("errors for the client are answers; errors of the server are thrown, and noted", async () => {
  const { ask, lines } = setup();
  assert.deepEqual((await ask("/api/v1/namespaces/a/pods/none", as("root"))).message, 'pods "none" not found');
  await assert.rejects(ask("/version", as("root")), /broken/);
  assert.match(lines.at(-1)!, /"stage":"Panic".*APIServer panic'd: broken/);
});

test("what stands before a guard sees requests first, and what it passes on is checked as ever", async () => {
  const { guard, handled } = setup();
  const fronted = guard.behind(async (request, next) =>
    request.path === "/own" ? { status: 418, headers: {}, body: "" } : next({ ...request, path: "/api/v1/pods" }),
  );
  const status = async (path: string, headers: HeaderMap = {}) =>
    (await fronted.handle({ method: "GET", path, headers }, { address: "10.1.2.3" })).status;
  assert.equal(await status("/own"), 418);
  assert.equal(await status("/api", as("root")), 200);
  assert.equal(await status("/api", as("wrong")), 401);
  assert.deepEqual(
    handled.map(({ request }) => request.path),
    ["/api/v1/pods"],
  );
});
