import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiError } from "@konverge/core";
import { emptyStore, putObjects, removeObject } from "../../../test/role-store.ts";
import { requestInfo } from "../../http/request-info.ts";
import { AccessControl } from "../access-control.ts";
import { attributesOf, forbiddenError, resourceAttributes } from "../attributes.ts";
import type { User } from "../user.ts";
import { Authorizer } from "./authorizer.ts";
import { ensureDefaultRoles } from "./default-roles.ts";
import { checkEscalation } from "./escalation.ts";
import { RBAC_RESOURCES, type RoleObject } from "./role-objects.ts";
import type { PolicyRule } from "./rules.ts";

const jane: User = { name: "jane", groups: ["system:authenticated"] };
const refusal = (method: string, path: string, user = jane) =>
  forbiddenError(user, attributesOf(requestInfo({ method, path }))).message;
const may = (authorizer: Authorizer, user: User, method: string, path: string) =>
  authorizer.authorize(user, attributesOf(requestInfo({ method, path }))).allowed;

function setup() {
  const { store, clock } = emptyStore();
  ensureDefaultRoles(store, clock);
  return { store, clock, authorizer: new Authorizer(store) };
}

const role = (name: string, rules: PolicyRule[], namespace?: string) => ({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: namespace ? "Role" : "ClusterRole",
  metadata: { name, ...(namespace && { namespace }) },
  rules,
});
const binding = (name: string, to: object, ref: { kind: string; name: string }, namespace?: string) => ({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: namespace ? "RoleBinding" : "ClusterRoleBinding",
  metadata: { name, ...(namespace && { namespace }) },
  subjects: [to],
  roleRef: { apiGroup: "rbac.authorization.k8s.io", ...ref },
});
const toJane = { kind: "User", name: "jane" };

test("refusals are worded as in a real server", () => {
  assert.equal(
    refusal("GET", "/apis/apps/v1/namespaces/default/deployments"),
    'deployments.apps is forbidden: User "jane" cannot list resource "deployments" in API group "apps" in the namespace "default"',
  );
  assert.equal(
    refusal("GET", "/api/v1/namespaces/default/pods/web/log"),
    'pods "web" is forbidden: User "jane" cannot get resource "pods/log" in API group "" in the namespace "default"',
  );
  assert.equal(
    refusal("DELETE", "/api/v1/nodes"),
    'nodes is forbidden: User "jane" cannot deletecollection resource "nodes" in API group "" at the cluster scope',
  );
  assert.equal(refusal("GET", "/foo%20%3Cb%3E"), 'forbidden: User "jane" cannot get path "/foo &lt;b&gt;"');
  assert.deepEqual(forbiddenError(jane, attributesOf(requestInfo({ method: "GET", path: "/x" }))).details, {});
});

test("the default roles allow users discovery, administrators everything and others nothing", () => {
  const { authorizer } = setup();
  const admin: User = { name: "root", groups: ["system:masters"] };
  assert.ok(may(authorizer, admin, "DELETE", "/api/v1/nodes"));
  assert.ok(may(authorizer, jane, "GET", "/apis/apps/v1"));
  assert.ok(may(authorizer, jane, "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"));
  assert.ok(!may(authorizer, jane, "GET", "/api/v1/namespaces/default/pods"));
  const anonymous: User = { name: "system:anonymous", groups: ["system:unauthenticated"] };
  assert.ok(may(authorizer, anonymous, "GET", "/healthz"));
  assert.ok(may(authorizer, anonymous, "GET", "/version"));
  assert.ok(!may(authorizer, anonymous, "GET", "/api"));
  assert.ok(
    may(authorizer, { name: "system:kube-scheduler", groups: [] }, "POST", "/api/v1/namespaces/a/pods/p/binding"),
  );
});

test("edit contains view, and admin both, through aggregation", () => {
  const { store, authorizer } = setup();
  for (const name of ["view", "edit", "admin"]) {
    putObjects(store, RBAC_RESOURCES.roleBindings, binding(name, toJane, { kind: "ClusterRole", name }, name));
  }
  const on = (namespace: string, method: string, rest: string) =>
    may(authorizer, jane, method, rest.replace("NS", namespace));
  const pods = "/api/v1/namespaces/NS/pods";
  const roles = "/apis/rbac.authorization.k8s.io/v1/namespaces/NS/roles";
  assert.deepEqual(
    ["view", "edit", "admin"].map((ns) => on(ns, "GET", pods)),
    [true, true, true],
  );
  assert.deepEqual(
    ["view", "edit", "admin"].map((ns) => on(ns, "POST", pods)),
    [false, true, true],
  );
  assert.deepEqual(
    ["view", "edit", "admin"].map((ns) => on(ns, "POST", roles)),
    [false, false, true],
  );
  assert.ok(!on("other", "GET", pods));
});

test("roles and bindings take effect at once, and end at once", () => {
  const { store, authorizer } = setup();
  const path = "/apis/apps/v1/namespaces/a/deployments";
  const rules = [{ apiGroups: ["apps"], resources: ["deployments"], verbs: ["list"] }];
  assert.ok(!may(authorizer, jane, "GET", path));
  putObjects(store, RBAC_RESOURCES.roleBindings, binding("b", toJane, { kind: "Role", name: "r" }, "a"));
  assert.deepEqual(authorizer.authorize(jane, attributesOf(requestInfo({ method: "GET", path }))), {
    allowed: false,
    reason: 'RBAC: role.rbac.authorization.k8s.io "r" not found',
  });
  putObjects(store, RBAC_RESOURCES.roles, role("r", rules, "a"));
  assert.deepEqual(authorizer.authorize(jane, attributesOf(requestInfo({ method: "GET", path }))), {
    allowed: true,
    reason: 'RBAC: allowed by RoleBinding "b/a" of Role "r" to User "jane"',
  });
  assert.ok(!may(authorizer, jane, "GET", path.replace("/a/", "/b/")));
  const before = store.snapshot();
  putObjects(store, RBAC_RESOURCES.roles, role("r", [], "a"));
  assert.ok(!may(authorizer, jane, "GET", path));
  store.restore(before);
  assert.ok(may(authorizer, jane, "GET", path), "a restored state is looked at anew");
  removeObject(store, RBAC_RESOURCES.roleBindings, "a/b");
  assert.ok(!may(authorizer, jane, "GET", path));
});

test("bindings to groups and service accounts reach whom they name", () => {
  const { store, authorizer } = setup();
  putObjects(
    store,
    RBAC_RESOURCES.clusterRoles,
    role("pods", [{ apiGroups: [""], resources: ["pods"], verbs: ["*"] }]),
  );
  const ref = { kind: "ClusterRole", name: "pods" };
  putObjects(
    store,
    RBAC_RESOURCES.roleBindings,
    binding("home", { kind: "ServiceAccount", name: "robot" }, ref, "a"),
    binding("guest", { kind: "ServiceAccount", name: "robot", namespace: "b" }, ref, "c"),
  );
  putObjects(
    store,
    RBAC_RESOURCES.clusterRoleBindings,
    binding("ops", { kind: "Group", name: "ops" }, ref),
    binding("nowhere", { kind: "ServiceAccount", name: "robot" }, ref),
  );
  const robot = (home: string): User => ({ name: `system:serviceaccount:${home}:robot`, groups: [] });
  const list = (user: User, namespace: string) => may(authorizer, user, "GET", `/api/v1/namespaces/${namespace}/pods`);
  assert.ok(list(robot("a"), "a"));
  assert.ok(!list(robot("a"), "c"));
  assert.ok(list(robot("b"), "c"));
  assert.ok(!list(robot("b"), "a"));
  assert.ok(list({ name: "x", groups: ["ops"] }, "anywhere"));
  assert.ok(!list({ name: "ops", groups: [] }, "anywhere"));
  assert.equal(
    authorizer.authorize(robot("a"), resourceAttributes("list", { resource: "pods", namespace: "a" })).reason,
    'RBAC: allowed by RoleBinding "home/a" of ClusterRole "pods" to ServiceAccount "robot/a"',
  );
});

test("a list by name is allowed by a rule for that name", () => {
  const { store, authorizer } = setup();
  const rules = [
    { apiGroups: [""], resources: ["configmaps"], resourceNames: ["mine"], verbs: ["list", "watch", "get"] },
  ];
  putObjects(store, RBAC_RESOURCES.clusterRoles, role("mine", rules));
  putObjects(store, RBAC_RESOURCES.clusterRoleBindings, binding("mine", toJane, { kind: "ClusterRole", name: "mine" }));
  const path = "/api/v1/namespaces/a/configmaps";
  assert.ok(may(authorizer, jane, "GET", `${path}/mine`));
  assert.ok(may(authorizer, jane, "GET", `${path}?watch=1&fieldSelector=metadata.name%3Dmine`));
  assert.ok(!may(authorizer, jane, "GET", `${path}?fieldSelector=metadata.name%3Dother`));
  assert.ok(!may(authorizer, jane, "GET", path));
});

test("no user grants permissions that they do not have", () => {
  const { store, authorizer } = setup();
  const read = { apiGroups: [""], resources: ["pods"], verbs: ["get", "list"] };
  putObjects(store, RBAC_RESOURCES.roles, role("reader", [read], "a"));
  putObjects(store, RBAC_RESOURCES.roleBindings, binding("reader", toJane, { kind: "Role", name: "reader" }, "a"));
  const write = (rules: PolicyRule[], user = jane, more: Partial<RoleObject> = {}) =>
    checkEscalation(authorizer, {
      user,
      resource: "roles",
      namespace: "a",
      name: "",
      object: { ...role("new", rules, "a"), ...more } as RoleObject,
    });
  write([{ ...read, verbs: ["get"] }]);
  write([{ ...read, resourceNames: ["one"] }]);
  const wide = [
    { apiGroups: ["", "apps"], resources: ["pods"], verbs: ["get", "delete"] },
    { nonResourceURLs: ["/x"], verbs: ["get"] },
  ];
  assert.throws(
    () => write(wide),
    (error: ApiError) => {
      assert.equal(error.code, 403);
      assert.equal(
        error.message,
        'roles.rbac.authorization.k8s.io "new" is forbidden: user "jane" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n' +
          '{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}\n' +
          '{APIGroups:["apps"], Resources:["pods"], Verbs:["get" "delete"]}\n' +
          '{NonResourceURLs:["/x"], Verbs:["get"]}',
      );
      return true;
    },
  );
  write(wide, { name: "root", groups: ["system:masters"] });

  const bind = (ref: { kind: string; name: string }) =>
    checkEscalation(authorizer, {
      user: jane,
      resource: "rolebindings",
      namespace: "a",
      name: "",
      object: binding("new", toJane, ref, "a"),
    });
  bind({ kind: "Role", name: "reader" });
  assert.throws(() => bind({ kind: "ClusterRole", name: "view" }), /not currently held/);
  assert.throws(() => bind({ kind: "ClusterRole", name: "none" }), { code: 404 });

  const special = [
    { apiGroups: ["rbac.authorization.k8s.io"], resources: ["clusterroles"], resourceNames: ["view"], verbs: ["bind"] },
    { apiGroups: ["rbac.authorization.k8s.io"], resources: ["roles"], verbs: ["escalate"] },
  ];
  putObjects(store, RBAC_RESOURCES.roles, role("special", special, "a"));
  putObjects(store, RBAC_RESOURCES.roleBindings, binding("special", toJane, { kind: "Role", name: "special" }, "a"));
  bind({ kind: "ClusterRole", name: "view" });
  assert.throws(() => bind({ kind: "ClusterRole", name: "edit" }), /not currently held/);
  write(wide);
});

test("only cluster administrators aggregate, and owners can be changed without holding the rules", () => {
  const { authorizer } = setup();
  const rule = { apiGroups: [""], resources: ["pods"], verbs: ["get"] };
  const old = { ...role("r", [rule]), metadata: { name: "r", uid: "u", resourceVersion: "5" } };
  const write = (object: object) =>
    checkEscalation(authorizer, {
      user: jane,
      resource: "clusterroles",
      namespace: "",
      name: "r",
      object: object as RoleObject,
      old: old as unknown as RoleObject,
    });
  write({ ...old, metadata: { ...old.metadata, finalizers: ["x/y"], ownerReferences: [] } });
  assert.throws(() => write({ ...old, metadata: { ...old.metadata, labels: { a: "b" } } }), /not currently held/);
  const aggregating = { ...old, rules: [], aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: "b" } }] } };
  assert.throws(() => write(aggregating), /must have cluster-admin privileges to use the aggregationRule/);
});

test("the gates of a request: who it is, and whether they may", () => {
  const { store, clock } = setup();
  const tokens = [{ token: "secret", user: { name: "jane", groups: ["devs"] } }];
  const access = new AccessControl({ store, clock, tokens });
  const request = (token?: string) => ({ headers: token ? { authorization: `Bearer ${token}` } : {} });
  assert.throws(() => access.authenticate(request("wrong"), { address: "" }), { code: 401, message: "Unauthorized" });
  const user = access.authenticate(request("secret"), { address: "" });
  assert.deepEqual(user, { name: "jane", groups: ["devs", "system:authenticated"] });
  assert.equal(access.authorize(user, requestInfo({ method: "GET", path: "/api/v1/pods" })).allowed, false);
  assert.equal(access.authorize(user, requestInfo({ method: "GET", path: "/api" })).allowed, true);
  assert.equal(access.authenticate(request(), { address: "" }).name, "system:anonymous");
});
