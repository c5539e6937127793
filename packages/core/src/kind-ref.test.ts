import assert from "node:assert/strict";
import { test } from "node:test";
import { apiVersionOf, groupKindText, groupResourceText, gvkOf, parseApiVersion } from "./kind-ref.ts";
import { keyOf, splitKey } from "./object.ts";
import { resourcePath } from "./resource-path.ts";

const pods = { group: "", version: "v1", kind: "Pod", plural: "pods" };
const deployments = { group: "apps", version: "v1", kind: "Deployment", plural: "deployments" };

test("an apiVersion names group and version, and the core group has no name", () => {
  assert.equal(apiVersionOf(pods), "v1");
  assert.equal(apiVersionOf(deployments), "apps/v1");
  assert.deepEqual(parseApiVersion("v1"), { group: "", version: "v1" });
  assert.deepEqual(parseApiVersion("apps/v1"), { group: "apps", version: "v1" });
  assert.deepEqual(gvkOf({ apiVersion: "apps/v1", kind: "Deployment" }), {
    group: "apps",
    version: "v1",
    kind: "Deployment",
  });
});

test("kinds and resources are written with their group after them", () => {
  assert.equal(groupKindText(pods), "Pod");
  assert.equal(groupKindText(deployments), "Deployment.apps");
  assert.equal(groupResourceText(pods), "pods");
  assert.equal(groupResourceText(deployments), "deployments.apps");
});

test("paths lead to collections, objects and subresources", () => {
  assert.equal(resourcePath(pods), "/api/v1/pods");
  assert.equal(resourcePath(deployments, { namespace: "ns" }), "/apis/apps/v1/namespaces/ns/deployments");
  assert.equal(
    resourcePath(deployments, { namespace: "ns", name: "web", subresource: "scale" }),
    "/apis/apps/v1/namespaces/ns/deployments/web/scale",
  );
  assert.equal(resourcePath(pods, { namespace: "ns", name: "c?d:e" }), "/api/v1/namespaces/ns/pods/c%3Fd%3Ae");
});

test("a name that would lead elsewhere, once a server has decoded it, is refused", () => {
  for (const name of ["", ".", "..", "web/proxy/x", "a%2Fb"]) {
    assert.throws(() => resourcePath(pods, { namespace: "ns", name }), { name: "ApiError", code: 400 }, name);
    if (name !== "")
      assert.throws(() => resourcePath(pods, { namespace: name }), { name: "ApiError", code: 400 }, name);
  }
});

test("a key holds namespace and name", () => {
  assert.equal(keyOf({ metadata: { name: "web", namespace: "ns" } }), "ns/web");
  assert.equal(keyOf({ metadata: { name: "node-1" } }), "node-1");
  assert.deepEqual(splitKey("ns/web"), { namespace: "ns", name: "web" });
  assert.deepEqual(splitKey("node-1"), { name: "node-1" });
});
