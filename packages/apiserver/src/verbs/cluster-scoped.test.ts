import assert from "node:assert/strict";
import { test } from "node:test";
import { VirtualClock } from "@konverge/core";
import { ApiServer } from "../server.ts";

const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const apiGroup = "rbac.authorization.k8s.io";
const roleRef = (kind: string, name: string) => ({ apiGroup, kind, name });
const subjects = [{ apiGroup, kind: "User", name: "jane" }];

test("who may do everything in a namespace may do nothing in the cluster, whatever path it takes", async () => {
  const server = new ApiServer({ clock: new VirtualClock() });
  const send = async (user: string, group: string, method: string, path: string, body?: object) => {
    const headers = { "content-type": "application/json" };
    const request = { method, path, headers, ...(body && { body: JSON.stringify(body) }) };
    return (await server.as({ name: user, groups: [group] })(request)).status;
  };
  const admin = (path: string, body: object) => send("admin", "system:masters", "POST", path, body);
  const jane = (method: string, path: string, body?: object) =>
    send("jane", "system:authenticated", method, path, body);
  for (const name of ["home", "other"]) await admin("/api/v1/namespaces", { metadata: { name } });
  await admin("/api/v1/nodes", { metadata: { name: "a" } });
  const role = { metadata: { name: "all" }, rules: [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }] };
  await admin(`${RBAC}/namespaces/home/roles`, role);
  const binding = { metadata: { name: "all" }, roleRef: roleRef("Role", "all"), subjects };
  await admin(`${RBAC}/namespaces/home/rolebindings`, binding);
  const names = { plural: "things", singular: "thing", kind: "Thing", listKind: "ThingList" };
  const version = { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } };
  await admin("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
    metadata: { name: "things.example.com" },
    spec: { group: "example.com", scope: "Cluster", names, versions: [version] },
  });

  const toAdmin = { metadata: { name: "jane" }, roleRef: roleRef("ClusterRole", "cluster-admin"), subjects };
  const thing = { apiVersion: "example.com/v1", kind: "Thing", metadata: { name: "a" } };
  assert.equal(await jane("GET", "/api/v1/namespaces/home/pods"), 200);
  assert.equal(await jane("GET", "/api/v1/namespaces/home"), 200);
  assert.equal(await jane("POST", `${RBAC}/namespaces/home/clusterrolebindings`, toAdmin), 404);
  assert.equal(await jane("GET", `${RBAC}/namespaces/home/clusterroles/edit`), 404);
  assert.equal(await jane("GET", "/api/v1/namespaces/home/nodes"), 404);
  assert.equal(await jane("GET", "/api/v1/watch/namespaces/home/nodes"), 404);
  assert.equal(await jane("DELETE", "/api/v1/namespaces/home/nodes/a"), 404);
  assert.equal(await jane("GET", "/api/v1/namespaces/home/nodes/a/status"), 404);
  assert.equal(await jane("GET", "/api/v1/namespaces/home/namespaces/other"), 404);
  assert.equal(await jane("DELETE", "/api/v1/namespaces/home/namespaces/other"), 404);
  assert.equal(await jane("GET", "/apis/example.com/v1/namespaces/home/things"), 404);
  assert.equal(await jane("POST", "/apis/example.com/v1/namespaces/home/things", thing), 404);
  assert.equal(await jane("POST", `${RBAC}/clusterrolebindings`, toAdmin), 403);
});
