import assert from "node:assert/strict";
import { test } from "node:test";
import type { HeaderMap } from "@konverge/core";
import { emptyStore, putObjects } from "../../test/role-store.ts";
import { requestInfo } from "../http/request-info.ts";
import { AccessControl } from "./access-control.ts";
import { withoutImpersonation } from "./impersonation.ts";
import type { PolicyRule } from "./rbac/rules.ts";
import type { User } from "./user.ts";

const GROUP = "rbac.authorization.k8s.io";
const pods = requestInfo({ method: "GET", path: "/api/v1/namespaces/a/pods" });
const requestor: User = { name: "robot", groups: ["system:authenticated"] };

function accessWith(...rules: PolicyRule[]): AccessControl {
  const { store, clock } = emptyStore();
  putObjects(store, `${GROUP}/clusterroles`, { kind: "ClusterRole", metadata: { name: "r" }, rules });
  putObjects(store, `${GROUP}/clusterrolebindings`, {
    kind: "ClusterRoleBinding",
    metadata: { name: "r" },
    subjects: [{ kind: "Group", name: "system:authenticated" }],
    roleRef: { apiGroup: GROUP, kind: "ClusterRole", name: "r" },
  });
  return new AccessControl({ store, clock });
}
const rule = (verbs: string[], resources: string[], apiGroups = [""]): PolicyRule => ({ verbs, resources, apiGroups });
const as = (access: AccessControl, headers: HeaderMap, user = requestor) => access.impersonate(user, headers, pods);

test("without the headers nothing happens", () => {
  assert.equal(as(accessWith(), { accept: "*/*" }), undefined);
});

test("administrators can impersonate any user, with the groups of that user", () => {
  const admin: User = { name: "root", groups: ["system:masters"] };
  const become = (headers: HeaderMap) => as(accessWith(), headers, admin)?.user;
  assert.deepEqual(become({ "impersonate-user": "jane" }), { name: "jane", groups: ["system:authenticated"] });
  assert.deepEqual(become({ "impersonate-user": "system:anonymous" }), {
    name: "system:anonymous",
    groups: ["system:unauthenticated"],
  });
  assert.deepEqual(become({ "impersonate-user": "system:serviceaccount:a:b" })?.groups, [
    "system:serviceaccounts",
    "system:serviceaccounts:a",
    "system:authenticated",
  ]);
  assert.deepEqual(
    become({
      "impersonate-user": "jane",
      "impersonate-uid": "u",
      "impersonate-group": ["x", "y"],
      "impersonate-extra-acme.com%2fteam": "red",
    }),
    { name: "jane", uid: "u", groups: ["x", "y", "system:authenticated"], extra: { "acme.com/team": ["red"] } },
  );
});

test("an extra can have any key, also one that every object has, and as many values as headers hold", {
  timeout: 20_000,
}, () => {
  const admin: User = { name: "root", groups: ["system:masters"] };
  const become = (headers: HeaderMap) => as(accessWith(), { "impersonate-user": "jane", ...headers }, admin)?.user;
  for (const key of ["constructor", "__proto__", "tostring", "hasownproperty"]) {
    const extra = become({ [`impersonate-extra-${key}`]: "x" })?.extra;
    assert.deepEqual(Object.entries(extra ?? {}), [[key, ["x"]]], key);
    assert.throws(() => as(accessWith(), { [`impersonate-extra-${key}`]: "x" }), { name: "ApiError", code: 400 });
  }
  // Each of these names is another way to write the same key.
  const spelled = (number: number) =>
    [..."abcdefghijklmnop"]
      .map((letter, i) => ((number >> i) & 1 ? `%${letter.charCodeAt(0).toString(16)}` : letter))
      .join("");
  const names = Array.from({ length: 30_000 }, (_, number) => [`impersonate-extra-${spelled(number)}`, "x"]);
  assert.equal(become(Object.fromEntries(names))?.extra?.["abcdefghijklmnop"]?.length, 30_000);
});

test("plain impersonation allows everything once the name, each group, uid and extra is allowed", () => {
  const access = accessWith(rule(["impersonate"], ["users", "groups"]));
  assert.deepEqual(as(access, { "impersonate-user": "jane", "impersonate-group": "devs" }), {
    user: { name: "jane", groups: ["devs", "system:authenticated"] },
    constraint: "",
  });
  assert.throws(() => as(access, { "impersonate-user": "jane", "impersonate-uid": "u" }), {
    code: 403,
    message:
      'uids.authentication.k8s.io "u" is forbidden: User "robot" cannot impersonate resource "uids" in API group "authentication.k8s.io" at the cluster scope',
  });
});

test("constrained impersonation allows one kind of request as one kind of user", () => {
  const access = accessWith(
    rule(["impersonate:user-info"], ["users"], ["authentication.k8s.io"]),
    rule(["impersonate-on:user-info:list"], ["pods"]),
  );
  assert.equal(as(access, { "impersonate-user": "jane" })?.constraint, "impersonate:user-info");
  const other = requestInfo({ method: "GET", path: "/api/v1/namespaces/a/secrets" });
  assert.throws(() => access.impersonate(requestor, { "impersonate-user": "jane" }, other), {
    message:
      'secrets is forbidden: User "robot" cannot impersonate-on:user-info:list resource "secrets" in API group "" in the namespace "a"',
  });
  assert.throws(
    () => as(access, { "impersonate-user": "jane", "impersonate-group": "system:masters" }),
    /impersonating the system:masters group is not allowed/,
  );
});

test("a pod's service account may be allowed to act as its own node, and no other", () => {
  const access = accessWith(
    rule(["impersonate:associated-node"], ["nodes"], ["authentication.k8s.io"]),
    rule(["impersonate-on:associated-node:list"], ["pods"]),
  );
  const agent: User = {
    name: "system:serviceaccount:a:agent",
    groups: ["system:authenticated"],
    extra: { "authentication.kubernetes.io/node-name": ["n1"] },
  };
  assert.deepEqual(as(access, { "impersonate-user": "system:node:n1" }, agent)?.user, {
    name: "system:node:n1",
    groups: ["system:nodes", "system:authenticated"],
  });
  assert.throws(() => as(access, { "impersonate-user": "system:node:n2" }, agent), { code: 403 });
});

test("groups without a user make no sense", () => {
  assert.throws(() => as(accessWith(), { "impersonate-group": ["a", "b"] }), {
    code: 400,
    message:
      'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"a", "b"}, Extra:map[string][]string(nil)} without impersonating a user name',
  });
});

test("what follows does not see the headers", () => {
  const headers = { accept: "*/*", "impersonate-user": "x", "impersonate-extra-a": "b" };
  assert.deepEqual(withoutImpersonation(headers), { accept: "*/*" });
});
