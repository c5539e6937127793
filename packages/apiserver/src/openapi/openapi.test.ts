import assert from "node:assert/strict";
import { test } from "node:test";
import { registerBuiltins } from "../bootstrap/builtin-resources.ts";
import { Registry } from "../resources/registry.ts";
import { OpenApi } from "./openapi.ts";

interface Document {
  paths: Record<
    string,
    Record<string, { parameters?: { name: string }[]; "x-kubernetes-group-version-kind"?: object }>
  >;
  components: {
    schemas: Record<string, { properties?: Record<string, unknown>; "x-kubernetes-group-version-kind"?: object[] }>;
  };
}

const registry = new Registry();
registerBuiltins(registry);
const openApi = new OpenApi(registry);

function read(path: string, headers: Record<string, string> = {}) {
  return openApi.answer({ method: "GET", path, headers }, { path } as Parameters<OpenApi["answer"]>[1]);
}
const document = (name: string) => JSON.parse(read(`/openapi/v3/${name}`)!.body as string) as Document;

test("the index lists a document for every served version, with its digest", () => {
  const { paths } = JSON.parse(read("/openapi/v3")!.body as string) as {
    paths: Record<string, { serverRelativeURL: string }>;
  };
  assert.match(paths["apis/apps/v1"]!.serverRelativeURL, /^\/openapi\/v3\/apis\/apps\/v1\?hash=[0-9A-F]{128}$/);
  assert.ok(paths["api/v1"]);
  assert.equal(read("/openapi/v3/apis/absent/v1"), undefined);
});

test("a document that has not changed need not be sent again", () => {
  const first = read("/openapi/v3/apis/batch/v1")!;
  const again = read("/openapi/v3/apis/batch/v1", { "if-none-match": first.headers.etag as string })!;
  assert.equal(again.status, 304);
});

test("patches take fieldValidation, which is how kubectl learns that the server validates", () => {
  const { patch } = document("apis/apps/v1").paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]!;
  assert.deepEqual(patch!["x-kubernetes-group-version-kind"], { group: "apps", version: "v1", kind: "Deployment" });
  assert.ok(patch!.parameters!.some(({ name }) => name === "fieldValidation"));
});

test("every reference in a document leads to a schema of it", () => {
  for (const name of ["api/v1", "apis/apps/v1", "apis/autoscaling/v2", "apis/apiextensions.k8s.io/v1"]) {
    const text = read(`/openapi/v3/${name}`)!.body as string;
    const { schemas } = (JSON.parse(text) as Document).components;
    for (const [, reference] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g))
      assert.ok(schemas[reference!], `${name}: ${reference}`);
  }
});

test("a schema of a kind says which one it is", () => {
  const { schemas } = document("apis/apps/v1").components;
  assert.deepEqual(schemas["io.k8s.api.apps.v1.Deployment"]!["x-kubernetes-group-version-kind"], [
    { group: "apps", kind: "Deployment", version: "v1" },
  ]);
  assert.ok(schemas["io.k8s.api.apps.v1.DeploymentSpec"]!.properties!.replicas);
});

test("documents have the paths of connections and watches, and those of the server's version and discovery", () => {
  const { paths } = document("api/v1");
  assert.deepEqual(Object.keys(paths["/api/v1/namespaces/{namespace}/pods/{name}/exec"]!), [
    "get",
    "post",
    "parameters",
  ]);
  assert.ok(paths["/api/v1/namespaces/{namespace}/pods/{name}/proxy/{path}"]!["options"]);
  assert.deepEqual(
    Object.keys(paths).filter((path) => /^\/api\/v1\/watch\/.*pods/.test(path)),
    ["", "/namespaces/{namespace}", "/namespaces/{namespace}"].map(
      (place, index) => `/api/v1/watch${place}/pods${index === 2 ? "/{name}" : ""}`,
    ),
  );
  assert.deepEqual(Object.keys(document("version").paths), ["/version/"]);
  assert.ok("/apis/apps/" in document("apis/apps").paths);
});
