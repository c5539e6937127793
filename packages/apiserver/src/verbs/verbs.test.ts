import assert from "node:assert/strict";
import { test } from "node:test";
import { readText, VirtualClock } from "@konverge/core";
import { ApiServer, type ApiServerOptions } from "../server.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const TYPES: Record<string, string> = {
  PATCH: "application/merge-patch+json",
  APPLY: "application/apply-patch+yaml",
};

function stage(options: ApiServerOptions = {}) {
  const server = new ApiServer({ clock: new VirtualClock(), ...options });
  const send = async (method: string, path: string, body?: unknown) => {
    const headers = { "content-type": TYPES[method] ?? "application/json" };
    const sent = body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) };
    const request = { method: method === "APPLY" ? "PATCH" : method, path, headers, ...sent };
    const { status, body: text } = await server.transport(request);
    return { status, body: JSON.parse(await readText(text)) };
  };
  return { server, send };
}

const map = (name: string, data: object = {}, metadata: object = {}) => ({ metadata: { name, ...metadata }, data });

test("an update that names an old version is refused, one that names none is not", async () => {
  const { send } = stage();
  const { body } = await send("POST", MAPS, map("a"));
  await send("PUT", `${MAPS}/a`, map("a", { k: "1" }));
  const late = await send("PUT", `${MAPS}/a`, map("a", { k: "2" }, { resourceVersion: body.metadata.resourceVersion }));
  assert.equal(late.status, 409);
  assert.equal(late.body.reason, "Conflict");
});

test("an update with the uid of a deleted object creates nothing", async () => {
  const { send } = stage();
  const leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
  const { body } = await send("POST", leases, { metadata: { name: "l" } });
  await send("DELETE", `${leases}/l`);
  assert.equal((await send("PUT", `${leases}/l`, { metadata: { name: "l", uid: body.metadata.uid } })).status, 409);
  assert.equal((await send("PUT", `${leases}/l`, { metadata: { name: "l" } })).status, 201);
});

test("a write that changes nothing is not written", async () => {
  const { send } = stage();
  const { body } = await send("POST", MAPS, map("a", { k: "v" }));
  const again = await send("PATCH", `${MAPS}/a`, { data: { k: "v" } });
  assert.equal(again.body.metadata.resourceVersion, body.metadata.resourceVersion);
});

test("writers who change the same object at once both succeed: a patch is made again on what the other wrote", async () => {
  const { send } = stage();
  await send("POST", MAPS, map("a"));
  const keys = Array.from({ length: 20 }, (_, index) => `k${index}`);
  await Promise.all(keys.map((key) => send("PATCH", `${MAPS}/a`, { data: { [key]: "v" } })));
  const { body } = await send("GET", `${MAPS}/a`);
  assert.deepEqual(Object.keys(body.data).sort(), [...keys].sort());
});

test("an apply of values that fit the schema and not the type is refused as by a real server", async () => {
  const { send } = stage();
  const message = async (plural: string, kind: string, more: object) => {
    const body = { apiVersion: "v1", kind, metadata: { name: "a" }, ...more };
    const answer = await send("APPLY", `/api/v1/namespaces/default/${plural}/a?fieldManager=me`, body);
    assert.equal(answer.body.reason, plural === "services" && answer.status === 422 ? "Invalid" : undefined);
    return answer.body.message as string;
  };
  const refused = (kind: string, why: string) => {
    const what = `/v1, Kind=${kind}`;
    const problem = `unable to convert unstructured object to ${what}: ${why}`;
    return `failed to convert new object (/a; ${what}) to proper version: ${problem}`;
  };
  const limits = (cpu: unknown) => ({ spec: { limits: [{ type: "Container", max: { cpu } }] } });
  const quantity = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
  assert.equal(await message("limitranges", "LimitRange", limits("abc")), refused("LimitRange", quantity));
  assert.equal(
    await message("limitranges", "LimitRange", { metadata: { name: "a", deletionTimestamp: false } }),
    refused("LimitRange", "json: cannot unmarshal bool into Go value of type string"),
  );
  assert.equal(
    await message("secrets", "Secret", { data: { a: "%%%" } }),
    refused("Secret", "error decoding from json: illegal base64 data at input byte 0"),
  );
  const ports = (port: unknown, targetPort?: unknown) => ({ spec: { ports: [{ port, targetPort }] } });
  assert.equal(
    await message("services", "Service", ports(80, true)),
    refused("Service", "json: cannot unmarshal bool into Go value of type int32"),
  );
  assert.equal(await message("services", "Service", ports(1.5)), refused("Service", "cannot convert float64 to int32"));
  assert.match(
    await message("services", "Service", ports(99999999999)),
    /spec\.ports\[0\]\.port: Invalid value: 1215752191/,
  );
});

test("an apply takes no field from another manager unless it is forced", async () => {
  const { send } = stage();
  const wanted = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { k: "mine" } };
  await send("POST", `${MAPS}?fieldManager=first`, map("a", { k: "theirs" }));
  const refused = await send("APPLY", `${MAPS}/a?fieldManager=second`, wanted);
  assert.equal(refused.status, 409);
  assert.match(refused.body.details.causes[0].message, /conflict with "first"/);
  const forced = await send("APPLY", `${MAPS}/a?fieldManager=second&force=true`, wanted);
  assert.equal(forced.body.data.k, "mine");
});

test("a dry run goes through everything and stores nothing", async () => {
  const { server, send } = stage();
  const before = server.store.revision;
  const { status, body } = await send("POST", `${MAPS}?dryRun=All`, map("a"));
  assert.equal(status, 201);
  assert.ok(body.metadata.uid);
  assert.equal(server.store.revision, before);
});

test("finalizers hold what is deleted, and the last one to go lets it go", async () => {
  const { send } = stage();
  await send("POST", MAPS, map("a", {}, { finalizers: ["example.com/a", "example.com/b"] }));
  assert.ok((await send("DELETE", `${MAPS}/a`)).body.metadata.deletionTimestamp);
  await send("PATCH", `${MAPS}/a`, { metadata: { finalizers: ["example.com/b"] } });
  assert.equal((await send("GET", `${MAPS}/a`)).status, 200);
  await send("PATCH", `${MAPS}/a`, { metadata: { finalizers: null } });
  assert.equal((await send("GET", `${MAPS}/a`)).status, 404);
});

test("pages of a list stay at the revision of the first", async () => {
  const { send } = stage();
  for (const name of ["a", "b", "c"]) await send("POST", MAPS, map(name));
  const first = await send("GET", `${MAPS}?limit=2`);
  await send("DELETE", `${MAPS}/c`);
  const token = encodeURIComponent(first.body.metadata.continue);
  const rest = await send("GET", `${MAPS}?limit=2&continue=${token}`);
  assert.deepEqual(
    rest.body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name),
    ["c"],
  );
});

test("names are generated until one is free, and a time-out that is none is refused", async () => {
  const { send } = stage();
  const { body } = await send("POST", MAPS, { metadata: { generateName: "a-" } });
  assert.match(body.metadata.name, /^a-[a-z0-9]{5}$/);
  const refused = await send("GET", `${MAPS}?timeout=soon`);
  assert.equal(refused.status, 400);
  assert.match(refused.body.message, /^invalid timeout specified in the request URL/);
});

test("an object that is too large for etcd is refused, but its managedFields are dropped first", async () => {
  const { send } = stage();
  const revisions = "/apis/apps/v1/namespaces/default/controllerrevisions";
  const revision = (length: number) => ({ metadata: { name: "a" }, revision: 1, data: { k: "x".repeat(length) } });
  const refused = await send("POST", revisions, revision(1_700_000));
  assert.equal(refused.status, 500);
  assert.equal(refused.body.message, "etcdserver: request is too large");
  assert.equal((await send("GET", `${revisions}/a`)).status, 404);
  const kept = await send("POST", revisions, revision(1.5 * 1024 * 1024 - 300));
  assert.equal(kept.status, 201);
  assert.equal(kept.body.metadata.managedFields, undefined);
});
