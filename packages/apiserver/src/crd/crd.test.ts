import assert from "node:assert/strict";
import { test } from "node:test";
import { readText, VirtualClock } from "@konverge/core";
import { ApiServer, type ApiServerOptions } from "../server.ts";

const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const WIDGETS = "/apis/example.com/v1/namespaces/default/widgets";

interface Condition {
  type: string;
  status: string;
  reason: string;
}

const TYPES: Record<string, readonly [string, string] | undefined> = {
  PATCH: ["PATCH", "application/merge-patch+json"],
  APPLY: ["PATCH", "application/apply-patch+yaml"],
};

function stage(options: ApiServerOptions = {}) {
  const server = new ApiServer({ clock: new VirtualClock(), ...options });
  const send = async (method: string, path: string, body?: object) => {
    const [verb, type] = TYPES[method] ?? [method, "application/json"];
    const headers = { "content-type": type };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const { status, body: text } = await server.transport({ method: verb, path, headers, ...sent });
    const said = await readText(text);
    return { status, body: said.startsWith("{") ? JSON.parse(said) : said };
  };
  return { server, send };
}

const version = (name: string, schema: object, more: object = {}) => ({
  name,
  served: true,
  storage: name === "v1",
  schema: { openAPIV3Schema: { type: "object", properties: { spec: { type: "object", ...schema } } } },
  ...more,
});

const crd = (versions: object[], more: object = {}) => ({
  metadata: { name: "widgets.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "widgets", kind: "Widget", listKind: "WidgetList", singular: "widget" },
    versions,
    ...more,
  },
});

const SIZE = { properties: { size: { type: "integer", default: 3, maximum: 9 } } };
const widget = (name: string, spec: object = {}, apiVersion = "example.com/v1") => ({
  apiVersion,
  kind: "Widget",
  metadata: { name },
  spec,
});
const statusOf = (conditions: readonly Condition[], type: string) =>
  conditions.find((condition) => condition.type === type)?.status;

test("a CRD is established with its answer: the next request already finds its resource", async () => {
  const { send } = stage();
  assert.equal((await send("POST", CRDS, crd([version("v1", SIZE)]))).status, 201);
  const { status, body } = await send("POST", WIDGETS, widget("a", { other: 1 }));
  assert.equal(status, 201);
  assert.deepEqual(body.spec, { size: 3 });
  const { conditions } = (await send("GET", `${CRDS}/widgets.example.com`)).body.status;
  assert.equal(statusOf(conditions, "NamesAccepted"), "True");
  assert.equal(statusOf(conditions, "Established"), "True");
});

test("an apply that empties a map makes it null, which the schema has to allow", async () => {
  const { send } = stage();
  const map = { type: "object", additionalProperties: { type: "string" } };
  const properties = { map, nullable: { ...map, nullable: true }, text: { type: "string" } };
  await send("POST", CRDS, crd([version("v1", { properties })]));
  const apply = (spec: object) => send("APPLY", `${WIDGETS}/a?fieldManager=me&force=true`, widget("a", spec));
  await apply({ map: { a: "1" }, nullable: { a: "1" } });
  const { status, body } = await apply({ map: {}, nullable: {} });
  assert.equal(status, 422);
  assert.deepEqual(
    body.details.causes.map(({ field, message }: { field: string; message: string }) => `${field}: ${message}`),
    ['spec.map: Invalid value: "null": spec.map in body must be of type object: "null"'],
  );
  assert.deepEqual((await apply({ nullable: {} })).body.spec, { nullable: null });
  assert.equal((await apply({ text: null })).status, 422);
});

test("an apply of metadata that does not fit leaves it out, and owns it", async () => {
  const { send } = stage();
  await send("POST", CRDS, crd([version("v1", SIZE)]));
  const metadata = { name: "a", deletionTimestamp: false, creationTimestamp: "x", labels: { a: "b" } };
  const { status, body } = await send("APPLY", `${WIDGETS}/a?fieldManager=me`, { ...widget("a"), metadata });
  assert.equal(status, 201);
  assert.equal(body.metadata.deletionTimestamp, undefined);
  assert.match(body.metadata.creationTimestamp, /^\d{4}-/);
  assert.deepEqual(body.metadata.labels, { a: "b" });
  assert.ok(body.metadata.managedFields[0].fieldsV1["f:metadata"]["f:deletionTimestamp"]);
});

test("instances are held to the schema, and old ones to what they were held to before", async () => {
  const { send } = stage();
  await send(
    "POST",
    CRDS,
    crd([version("v1", { properties: { size: { type: "integer" }, color: { type: "string" } } })]),
  );
  await send("POST", WIDGETS, widget("a", { size: 50 }));
  await send("PUT", `${CRDS}/widgets.example.com`, {
    ...crd([version("v1", { properties: { size: { type: "integer", maximum: 9 }, color: { type: "string" } } })]),
    metadata: (await send("GET", `${CRDS}/widgets.example.com`)).body.metadata,
  });
  assert.equal((await send("POST", WIDGETS, widget("b", { size: 50 }))).status, 422);
  assert.equal((await send("PATCH", `${WIDGETS}/a`, { spec: { color: "red" } })).status, 200);
  assert.equal((await send("PATCH", `${WIDGETS}/a`, { spec: { size: 51 } })).status, 422);
});

test("the second of two CRDs with the same name reports the conflict, and is not served", async () => {
  const { send } = stage();
  await send("POST", CRDS, crd([version("v1", SIZE)]));
  await send("POST", CRDS, {
    metadata: { name: "gadgets.example.com" },
    spec: { ...crd([version("v1", SIZE)]).spec, names: { plural: "gadgets", kind: "Widget", listKind: "GadgetList" } },
  });
  const { conditions } = (await send("GET", `${CRDS}/gadgets.example.com`)).body.status;
  assert.equal(statusOf(conditions, "NamesAccepted"), "False");
  assert.equal((await send("GET", "/apis/example.com/v1/gadgets")).status, 404);
});

test("a CRD that is deleted takes its instances along, and waits for those that are held", async () => {
  const { send } = stage();
  await send("POST", CRDS, crd([version("v1", SIZE)]));
  const held = widget("held");
  await send("POST", WIDGETS, { ...held, metadata: { ...held.metadata, finalizers: ["example.com/hold"] } });
  await send("DELETE", `${CRDS}/widgets.example.com`);
  assert.equal((await send("POST", WIDGETS, widget("late"))).status, 403);
  assert.ok((await send("GET", `${WIDGETS}/held`)).body.metadata.deletionTimestamp);
  await send("PATCH", `${WIDGETS}/held`, { metadata: { finalizers: null } });
  assert.equal((await send("GET", `${CRDS}/widgets.example.com`)).status, 404);
  assert.equal((await send("GET", WIDGETS)).status, 404);
});

test("a CRD is deleted with its instances, though nothing converts them: they are deleted in the version they are stored in", async () => {
  const asked: string[] = [];
  const { send } = stage({
    async callWebhook(_target, review) {
      asked.push((review as { request: { desiredAPIVersion: string } }).request.desiredAPIVersion);
      throw new Error("connection refused");
    },
  });
  const conversion = {
    strategy: "Webhook",
    webhook: { conversionReviewVersions: ["v1"], clientConfig: { url: "https://converter.example.com" } },
  };
  await send("POST", CRDS, crd([version("v2", SIZE), version("v1", SIZE)], { conversion }));
  await send("POST", WIDGETS, widget("a"));
  await send("DELETE", `${CRDS}/widgets.example.com`);
  assert.equal((await send("GET", `${CRDS}/widgets.example.com`)).status, 404);
  assert.deepEqual(asked, []);
});

test("a CRD is deleted with its instances, though no version is served", async () => {
  const { send } = stage();
  await send("POST", CRDS, crd([version("v1", SIZE)]));
  await send("POST", WIDGETS, widget("a"));
  await send("PATCH", `${CRDS}/widgets.example.com`, { spec: { versions: [version("v1", SIZE, { served: false })] } });
  await send("DELETE", `${CRDS}/widgets.example.com`);
  assert.equal((await send("GET", `${CRDS}/widgets.example.com`)).status, 404);
});

test("every version is served from the stored one, through the webhook where there is one", async () => {
  const asked: string[] = [];
  const { send } = stage({
    async callWebhook(_target, review) {
      const { request } = review as { request: { uid: string; desiredAPIVersion: string; objects: object[] } };
      asked.push(request.desiredAPIVersion);
      const convertedObjects = request.objects.map((object) => ({ ...object, apiVersion: request.desiredAPIVersion }));
      return { ...review, response: { uid: request.uid, result: { status: "Success" }, convertedObjects } };
    },
  });
  const conversion = {
    strategy: "Webhook",
    webhook: { conversionReviewVersions: ["v1"], clientConfig: { url: "https://converter.example.com" } },
  };
  await send("POST", CRDS, crd([version("v1", SIZE), version("v2", SIZE)], { conversion }));
  await send("POST", WIDGETS, widget("a", { size: 4 }));
  const { body } = await send("GET", WIDGETS.replace("/v1/", "/v2/"));
  assert.equal(body.items[0].apiVersion, "example.com/v2");
  assert.deepEqual(asked, ["example.com/v2"]);
});

test("fields are selected by as they are in the version of the request", async () => {
  const { server, send } = stage({
    async callWebhook(_target, review) {
      const { request } = review as {
        request: { uid: string; desiredAPIVersion: string; objects: { spec: { colour?: string; hue?: string } }[] };
      };
      const convertedObjects = request.objects.map((object) => {
        const { colour, hue } = object.spec;
        const isNew = request.desiredAPIVersion === "example.com/v2";
        return { ...object, apiVersion: request.desiredAPIVersion, spec: isNew ? { hue: colour } : { colour: hue } };
      });
      return { ...review, response: { uid: request.uid, result: { status: "Success" }, convertedObjects } };
    },
  });
  const conversion = {
    strategy: "Webhook",
    webhook: { conversionReviewVersions: ["v1"], clientConfig: { url: "https://converter.example.com" } },
  };
  const selectable = (field: string) =>
    [{ properties: { [field]: { type: "string" } } }, { selectableFields: [{ jsonPath: `.spec.${field}` }] }] as const;
  const versions = [version("v1", ...selectable("colour")), version("v2", ...selectable("hue"))];
  await send("POST", CRDS, crd(versions, { conversion }));
  await send("POST", WIDGETS, widget("a", { colour: "red" }));
  await send("POST", WIDGETS, widget("b", { colour: "blue" }));
  const v2 = WIDGETS.replace("/v1/", "/v2/");
  const { body } = await send("GET", `${v2}?fieldSelector=spec.hue%3Dblue`);
  assert.deepEqual(
    body.items.map(({ spec }: { spec: object }) => spec),
    [{ hue: "blue" }],
  );
  const path = `${v2}?watch=1&timeoutSeconds=1&resourceVersion=${body.metadata.resourceVersion}&fieldSelector=spec.hue%3Dblue`;
  const watch = await server.transport({ method: "GET", path, headers: {} });
  await send("PATCH", `${WIDGETS}/a`, { spec: { colour: "blue" } });
  await send("PATCH", `${WIDGETS}/b`, { spec: { colour: "green" } });
  const events: string[] = [];
  for await (const line of watch.body as AsyncIterable<string | Uint8Array>) {
    const { type, object } = JSON.parse(Buffer.from(line as string).toString());
    events.push(`${type} ${object.metadata.name} ${object.spec.hue}`);
    if (events.length === 2) break;
  }
  assert.deepEqual(events, ["ADDED a blue", "DELETED b blue"]);
});

test("a definition that cannot be served is refused, with every reason", async () => {
  const { send } = stage();
  const { status, body } = await send("POST", CRDS, {
    metadata: { name: "wrong.example.com" },
    spec: { group: "example.com", scope: "Wide", names: { plural: "widgets", kind: "Widget" }, versions: [] },
  });
  assert.equal(status, 422);
  const fields = body.details.causes.map(({ field }: { field: string }) => field);
  assert.ok(fields.includes("metadata.name"));
  assert.ok(fields.includes("spec.scope"));
});

test("only what Kubernetes approves is conformant in its own groups", async () => {
  const { send } = stage();
  const spec = { ...crd([version("v1", SIZE)]).spec, group: "thing.k8s.io" };
  const metadata = { name: "widgets.thing.k8s.io" };
  assert.equal((await send("POST", CRDS, { metadata, spec })).status, 422);
  const annotations = { "api-approved.kubernetes.io": "unapproved, a trial" };
  assert.equal((await send("POST", CRDS, { metadata: { ...metadata, annotations }, spec })).status, 201);
  const { conditions } = (await send("GET", `${CRDS}/widgets.thing.k8s.io`)).body.status;
  const approval = conditions.find(({ type }: Condition) => type === "KubernetesAPIApprovalPolicyConformant");
  assert.equal(approval.reason, "UnapprovedAnnotation");
  assert.equal(statusOf(conditions, "Established"), "True");
});

test("when a CRD is deleted, a watch reports the deletion of its objects before it ends", async () => {
  const { server, send } = stage();
  await send("POST", "/api/v1/namespaces", { metadata: { name: "default" } });
  await send("POST", CRDS, crd([version("v1", SIZE)]));
  await send("POST", WIDGETS, widget("a"));
  const path = "/apis/example.com/v1/widgets?watch=true&resourceVersion=0";
  const { body } = await server.transport({ method: "GET", path, headers: {} });
  const events = (body as AsyncIterable<string>)[Symbol.asyncIterator]();
  assert.match(String((await events.next()).value), /"type":"ADDED"/);
  await send("DELETE", `${CRDS}/widgets.example.com`);
  const lines: string[] = [];
  for (let next = await events.next(); !next.done; next = await events.next()) lines.push(String(next.value));
  assert.match(lines.join(""), /"type":"DELETED".*"name":"a"/);
  assert.equal((await server.transport({ method: "GET", path, headers: {} })).status, 404);
});
