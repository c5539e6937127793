import assert from "node:assert/strict";
import { test } from "node:test";
import { readText, VirtualClock } from "@konverge/core";
import { ApiServer } from "../server.ts";

const REGISTRATION = "/apis/admissionregistration.k8s.io/v1";
const MAPS = "/api/v1/namespaces/default/configmaps";
const growing = (text: string) => `${text}.replace('a', ${text}).size() > 0`;
const long = "a".repeat(90_000);

async function send(server: ApiServer, path: string, body: object): Promise<{ status: number; message: string }> {
  const headers = { "content-type": "application/json" };
  const response = await server.transport({ method: "POST", path, headers, body: JSON.stringify(body) });
  const { message = "" } = JSON.parse(await readText(response.body)) as { message?: string };
  return { status: response.status, message };
}

test("an expression of a policy whose text grows without end exceeds its cost, in validations and match conditions", async () => {
  const rules = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }];
  const expression = growing("object.data.x");
  for (const [field, value, error] of [
    ["validations", [{ expression }], "operation cancelled: actual cost limit exceeded"],
    ["matchConditions", [{ name: "grows", expression }], "operation cancelled: actual cost limit exceeded"],
  ] as const) {
    const server = new ApiServer({ clock: new VirtualClock() });
    const spec = { matchConstraints: { resourceRules: rules }, validations: [{ expression: "true" }], [field]: value };
    await send(server, `${REGISTRATION}/validatingadmissionpolicies`, { metadata: { name: "p" }, spec });
    const binding = { policyName: "p", validationActions: ["Deny"] };
    await send(server, `${REGISTRATION}/validatingadmissionpolicybindings`, { metadata: { name: "b" }, spec: binding });
    const small = await send(server, MAPS, { metadata: { name: "small" }, data: { x: "aa" } });
    assert.equal(small.status, 201, small.message);
    const { status, message } = await send(server, MAPS, { metadata: { name: "large" }, data: { x: long } });
    assert.equal(status, 422, message);
    assert.match(message, new RegExp(error), field);
  }
});

test("a rule of a custom resource definition whose text grows without end refuses the object", async () => {
  const server = new ApiServer({ clock: new VirtualClock() });
  const spec = {
    type: "object",
    properties: { x: { type: "string", maxLength: 100_000 } },
    "x-kubernetes-validations": [{ rule: growing("self.x") }],
  };
  const names = { plural: "texts", singular: "text", kind: "Text", listKind: "TextList" };
  const schema = { openAPIV3Schema: { type: "object", properties: { spec } } };
  const created = await send(server, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
    metadata: { name: "texts.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names,
      versions: [{ name: "v1", served: true, storage: true, schema }],
    },
  });
  assert.equal(created.status, 201, created.message);
  const text = (x: string) => ({
    apiVersion: "example.com/v1",
    kind: "Text",
    metadata: { name: `n${x.length}` },
    spec: { x },
  });
  const path = "/apis/example.com/v1/namespaces/default/texts";
  assert.equal((await send(server, path, text("aa"))).status, 201);
  const { status, message } = await send(server, path, text(long));
  assert.equal(status, 422, message);
  assert.match(message, /actual cost limit exceeded.*call cost exceeds limit for rule/);
});
