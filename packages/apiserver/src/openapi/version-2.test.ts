import assert from "node:assert/strict";
import { test } from "node:test";
import { registerBuiltins } from "../bootstrap/builtin-resources.ts";
import { Registry } from "../resources/registry.ts";
import { OpenApi } from "./openapi.ts";
import { type SwaggerDocument, swaggerDocument } from "./version-2.ts";

const registry = new Registry();
registerBuiltins(registry);
const openApi = new OpenApi(registry);

function read(headers: Record<string, string> = {}) {
  const path = "/openapi/v2";
  return openApi.answer({ method: "GET", path, headers }, { path } as Parameters<OpenApi["answer"]>[1])!;
}

test("one document has the paths and schemas of every group, with references within the document", () => {
  const { paths, definitions } = JSON.parse(read().body as string) as SwaggerDocument;
  const patch = paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]!["patch"] as {
    parameters: { name: string; in: string; type?: string; schema?: object }[];
  };
  assert.deepEqual(
    patch.parameters.find(({ name }) => name === "fieldValidation"),
    { name: "fieldValidation", in: "query", type: "string", uniqueItems: true },
  );
  assert.equal(patch.parameters[0]!.in, "body");
  assert.ok(definitions["io.k8s.api.core.v1.Pod"]);
  assert.doesNotMatch(read().body as string, /#\/components\//);
});

test("clients in Go get it as protobuf, whatever they call that", () => {
  for (const accept of [
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
  ]) {
    const { headers, body } = read({ accept });
    assert.equal(headers["content-type"], "application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
    // The first field, three bytes long: the version.
    assert.deepEqual([...(body as Uint8Array).subarray(0, 5)], [0x0a, 3, ...Buffer.from("2.0")]);
  }
});

test("another format is not acceptable", () => {
  assert.equal(read({ accept: "text/html" }).status, 406);
});

test("a document that has not changed need not be sent again", () => {
  const etag = read().headers["etag"] as string;
  assert.equal(read({ "if-none-match": etag }).status, 304);
});

test("where unknown fields are allowed no field is listed: readers would refuse all others", () => {
  const kinds = [{ group: "example.com", kind: "Any", version: "v1" }];
  const open = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const schemas = {
    Any: { ...open, properties: { kind: { type: "string" } }, "x-kubernetes-group-version-kind": kinds },
    Some: {
      type: "object",
      required: ["any", "none", "list"],
      properties: {
        any: { ...open, properties: { a: { type: "string" } } },
        none: { type: "string", nullable: true },
        list: { type: "array", items: { type: "string" } },
      },
    },
  };
  const { definitions } = swaggerDocument([{ paths: {}, components: { schemas } }], "1.36.3");
  assert.deepEqual(definitions["Any"], { type: "object", "x-kubernetes-group-version-kind": kinds });
  assert.deepEqual(definitions["Some"], {
    type: "object",
    required: ["any", "list"],
    properties: {
      any: { "x-kubernetes-preserve-unknown-fields": true },
      none: {},
      list: { type: "array", items: { type: "string" } },
    },
  });
});
