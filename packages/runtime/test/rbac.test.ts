import assert from "node:assert/strict";
import { test } from "node:test";
import { Client } from "@konverge/client";
import type { KindRef, KubeObject } from "@konverge/core";
import * as kinds from "@konverge/kinds";
import { ConfigMap, Secret } from "@konverge/kinds";
import {
  type Controller,
  cacheKind,
  comparePermissions,
  controller,
  controllerPermissions,
  MissingPermissionError,
  PermissionRecorder,
  permission,
  permissionText,
  policyRules,
  rolesFor,
} from "@konverge/runtime";
import { configMap, type Stage, stage, Widget } from "./stage.ts";

const widgets = (): Controller =>
  controller(Widget, {
    owns: [ConfigMap],
    watches: [cacheKind(Secret)],
    reconcile: (widget) => ({ children: widget.spec.maps.map((name) => configMap(name, { a: "1" })) }),
    cleanup: () => undefined,
  });

const robot = {
  name: "system:serviceaccount:default:robot",
  groups: ["system:serviceaccounts", "system:authenticated"],
};

/** A client of the robot's, which may do only what it is allowed. */
const robotClient = (s: Stage, recorder = new PermissionRecorder()) =>
  new Client(recorder.transport(s.server.as({ ...robot, extra: {} } as never)), { clock: s.clock });

const grant = async (s: Stage, controllers: Controller[], options = {}) => {
  const account = { name: "robot", namespace: "default" };
  for (const role of rolesFor(controllerPermissions(controllers, options), {
    name: "robot",
    serviceAccount: account,
  })) {
    await s.user.create((kinds as unknown as Record<string, KindRef<KubeObject>>)[role.kind]!, role as never);
  }
};

test("what a controller declares becomes the rules of its role", () => {
  assert.deepEqual(policyRules(controllerPermissions([widgets()])), [
    { apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list", "watch", "create", "patch", "delete"] },
    { apiGroups: [""], resources: ["events"], verbs: ["create", "patch"] },
    { apiGroups: [""], resources: ["secrets"], verbs: ["list", "watch"] },
    { apiGroups: ["example.com"], resources: ["widgets"], verbs: ["get", "list", "watch", "patch"] },
    { apiGroups: ["example.com"], resources: ["widgets/status"], verbs: ["patch"] },
  ]);
});

test("who writes by their own code may read what became of it, since an answer can be lost", () => {
  const uses = [permission(ConfigMap, ["create", "delete"]), permission(Secret, ["list"])];
  const accesses = controllerPermissions([controller(Widget, { permissions: uses, reconcile: () => undefined })]);
  const of = (resource: string) => accesses.filter((one) => one.resource === resource);
  assert.deepEqual(
    of("configmaps").map(({ verb, rare }) => [verb, rare ?? false]),
    [
      ["create", false],
      ["delete", false],
      ["get", true],
    ],
  );
  assert.deepEqual(
    of("secrets").map(({ verb }) => verb),
    ["list"],
  );
});

test("with namespaces there is a role in each, and none for the whole cluster", () => {
  const accesses = controllerPermissions([widgets()], {
    namespaces: ["a", "b"],
    leaderElection: { name: "lead", namespace: "a" },
  });
  const roles = rolesFor(accesses, { name: "robot", serviceAccount: { name: "robot", namespace: "a" } });
  assert.deepEqual(
    roles.map(({ kind, metadata }) => `${kind} ${metadata.namespace}`),
    ["Role a", "RoleBinding a", "Role b", "RoleBinding b"],
  );
  const [first] = roles as { rules?: { resources?: string[]; resourceNames?: string[]; verbs: string[] }[] }[];
  assert.deepEqual(
    first!
      .rules!.filter(({ resources }) => resources?.includes("leases"))
      .map(({ resourceNames, verbs }) => [resourceNames, verbs]),
    [
      [["lead"], ["get", "update"]],
      [undefined, ["create"]],
    ],
  );
});

test("an operator works under the role that its declaration gives", async () => {
  const s = await stage();
  await grant(s, [widgets()]);
  const recorder = new PermissionRecorder();
  await s.run(widgets(), { client: robotClient(s, recorder), preflight: true });
  await s.widget("w", { maps: ["a", "b"] });
  await s.settle();
  await s.user.delete(ConfigMap, "default/a");
  await s.settle();
  assert.ok(await s.exists(ConfigMap, "default/a"));
  await s.user.delete(Widget, "default/w");
  await s.settle();
  assert.equal(await s.exists(Widget, "default/w"), false);
  assert.deepEqual(s.warnings, []);
  const { missing, superfluous } = comparePermissions(controllerPermissions([widgets()]), recorder.permissions());
  assert.deepEqual(missing, []);
  assert.deepEqual(superfluous.map(permissionText), []);
});

test("what is done in a tenant's name needs no right but to act as them", async () => {
  const s = await stage();
  const tenants = () =>
    controller(Widget, {
      owns: [ConfigMap],
      impersonate: ({ metadata }) => ({ user: `system:serviceaccount:${metadata.namespace}:tenant` }),
      reconcile: () => ({ children: [configMap("a", { a: "1" })] }),
    });
  await grant(s, [tenants()]);
  const recorder = new PermissionRecorder();
  await s.run(tenants(), { client: robotClient(s, recorder), preflight: true });
  await s.widget("w");
  await s.clock.advance(5_000);
  assert.equal(await s.exists(ConfigMap, "default/a"), false);
  const refused = await s.user.get(Widget, "default/w");
  const { reason, message } = refused.status?.conditions?.find(({ type }) => type === "Ready") ?? {};
  assert.equal(reason, "Forbidden");
  assert.match(message ?? "", /ConfigMap default\/a cannot be written as system:serviceaccount:default:tenant: /);
  const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["create", "patch"] }];
  await s.user.create(kinds.Role, { metadata: { name: "t", namespace: "default" }, rules });
  await s.user.create(kinds.RoleBinding, {
    metadata: { name: "t", namespace: "default" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "t" },
    subjects: [{ kind: "ServiceAccount", name: "tenant", namespace: "default" }],
  });
  await s.clock.advance(60_000);
  assert.deepEqual((await s.user.get(ConfigMap, "default/a")).data, { a: "1" });
  const { missing, superfluous } = comparePermissions(controllerPermissions([tenants()]), recorder.permissions());
  assert.deepEqual(missing.map(permissionText), []);
  assert.deepEqual(superfluous.map(permissionText), []);
});

test("a preflight names every missing rule, and nothing is started", async () => {
  const s = await stage();
  const some = controller(Widget, { reconcile: () => undefined });
  await grant(s, [some]);
  const manager = s.manager(widgets(), { client: robotClient(s), preflight: true });
  await assert.rejects(s.during(manager.start()), (error: unknown) => {
    assert.ok(error instanceof MissingPermissionError);
    assert.match(error.message, /^system:serviceaccount:default:robot is not allowed to:/);
    assert.match(error.message, /\n {2}patch widgets\.example\.com\n/);
    assert.match(error.message, /\n {2}watch secrets\n/);
    assert.match(error.message, /\{"apiGroups":\[""\],"resources":\["secrets"\],"verbs":\["list","watch"\]\}/);
    assert.ok(!error.message.includes("patch widgets.example.com/status"));
    return true;
  });
  assert.deepEqual(
    [...manager.watches()].filter(({ synced }) => synced),
    [],
  );
});

test("undeclared calls are reported, and so are declared permissions that are never used", async () => {
  const s = await stage();
  const recorder = new PermissionRecorder();
  const operator = controller(Widget, {
    watches: [cacheKind(Secret)],
    permissions: [permission(ConfigMap, ["get", "delete"])],
    async reconcile(widget, { client }) {
      await client.create(ConfigMap, configMap(`${widget.metadata.name}-x`, {}));
      await client.get(ConfigMap, `default/${widget.metadata.name}-x`);
      return undefined;
    },
  });
  await s.run(operator, { client: new Client(recorder.transport(s.server.transport), { clock: s.clock }) });
  await s.widget("w");
  await s.settle();
  const { missing, superfluous } = comparePermissions(controllerPermissions([operator]), recorder.permissions());
  assert.deepEqual(missing.map(permissionText), ["create configmaps"]);
  assert.deepEqual(superfluous.map(permissionText), ["delete configmaps"]);
});

test("requests are understood as the server understands them", async () => {
  const recorder = new PermissionRecorder();
  const answer = { status: 200, headers: {}, body: "" };
  const send = (method: string, path: string, status = 200) =>
    recorder.transport(async () => ({ ...answer, status }))({ method, path, headers: {} });
  await send("GET", "/api/v1/namespaces/a");
  await send("GET", "/api/v1/namespaces/a/pods?watch=true");
  await send("PUT", "/api/v1/namespaces/a/finalize");
  await send("PATCH", "/apis/apps/v1/namespaces/a/deployments/web?fieldManager=x", 201);
  await send("DELETE", "/apis/apps/v1/namespaces/a/deployments");
  await send("GET", "/version");
  await send("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews");
  assert.deepEqual(recorder.permissions({ byNamespace: true }).map(permissionText), [
    'get namespaces "a"',
    "watch pods in namespace a",
    'update namespaces/finalize "a"',
    'patch deployments.apps "web" in namespace a',
    "create deployments.apps in namespace a",
    "deletecollection deployments.apps in namespace a",
  ]);
});

test("running a command in a pod requires the permission to get and to create it, as on a real server", async () => {
  const s = await stage();
  const runs = (verbs: ("get" | "create")[]) =>
    controller(Widget, {
      permissions: [permission(kinds.Pod, verbs, { subresource: "exec" })],
      reconcile: () => undefined,
    });
  const recorder = new PermissionRecorder();
  const attempt = () =>
    robotClient(s, recorder)
      .exec("default/nobody", ["true"])
      .then(
        () => "it runs",
        (error: Error) => error.message,
      );
  await grant(s, [runs(["get"])]);
  assert.match(await attempt(), /^pods "nobody" is forbidden/);
  await s.user.delete(kinds.ClusterRole, "robot");
  await s.user.delete(kinds.ClusterRoleBinding, "robot");
  await grant(s, [runs(["get", "create"])]);
  assert.match(await attempt(), /^pods "nobody" not found/);
  const seen = recorder.permissions().map(({ verb, resource }) => `${verb} ${resource}`);
  assert.deepEqual(seen.sort(), ["create pods/exec", "get pods/exec"]);
});
