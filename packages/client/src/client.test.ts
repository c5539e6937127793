import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError, isNotFound, type KubeObject, VirtualClock } from "@konverge/core";
import { ConfigMap } from "@konverge/kinds";
import { failure, json, list, scripted, silence, stream, Widget, widget } from "../test/scripted-server.ts";
import { Client } from "./client.ts";
import { TransportError } from "./errors.ts";
import { metadataOnly } from "./representation.ts";

const base = "/apis/example.com/v1/namespaces";

test("a bare name is in the client's namespace, a key with a slash in its own", async () => {
  const { transport, requests } = scripted(json(widget("a", "1")), json(widget("a", "1")));
  const client = new Client(transport, { namespace: "mine" });
  assert.equal((await client.get(Widget, "a")).metadata.uid, "uid-a");
  await client.get(Widget, "theirs/a");
  assert.deepEqual(
    requests.map((request) => request.path),
    [`${base}/mine/widgets/a`, `${base}/theirs/widgets/a`],
  );
});

test("a list selects, pages, and gives its items the apiVersion and kind they come without", async () => {
  const { apiVersion: _a, kind: _k, ...bare } = widget("a", "1");
  const { transport, requests } = scripted(list("7", [bare as KubeObject], "next page"));
  const answer = await new Client(transport).list(Widget, {
    namespace: "x",
    labelSelector: "app in (a, b)",
    limit: 1,
    continue: "c+1",
  });
  assert.equal(requests[0]!.path, `${base}/x/widgets?labelSelector=app%20in%20(a%2C%20b)&limit=1&continue=c%2B1`);
  assert.equal(answer.metadata.continue, "next page");
  assert.deepEqual([answer.items[0]!.apiVersion, answer.items[0]!.kind], ["example.com/v1", "Widget"]);
});

test("all objects can be read a page at a time, also when the server forgets the moment in between", async () => {
  const expired = { kind: "Status", code: 410, reason: "Expired", metadata: { continue: "later" } };
  const { transport, requests } = scripted(
    list("7", [widget("a", "1"), widget("b", "2")], "two"),
    json(expired, 410),
    list("9", [widget("d", "8")], "three"),
    list("9", [widget("e", "8")]),
  );
  const names: string[] = [];
  for await (const { metadata } of new Client(transport).each(Widget, { limit: 2, resourceVersion: "5" })) {
    names.push(metadata.name);
  }
  assert.deepEqual(names, ["a", "b", "d", "e"]);
  assert.deepEqual(
    requests.map(({ path }) => path.split("?")[1]),
    ["limit=2&resourceVersion=5", "limit=2&continue=two", "limit=2&continue=later", "limit=2&continue=three"],
  );
});

test("writes carry the field manager, and the kind where the object leaves it out", async () => {
  const { transport, requests } = scripted(json(widget("a", "1"), 201), json(widget("a", "1")), json(widget("a", "2")));
  const client = new Client(transport, { fieldManager: "me" });
  await client.create(Widget, { metadata: { name: "a" }, spec: { size: 1 } });
  await client.apply(Widget, { metadata: { name: "a" }, spec: { size: 2 } }, { force: true, dryRun: true });
  await client.patchStatus(Widget, "a", { merge: { status: { ready: true } } });
  const [create, apply, patch] = requests;
  assert.equal(`${create!.method} ${create!.path}`, `POST ${base}/default/widgets?fieldManager=me`);
  assert.deepEqual(JSON.parse(create!.body as string), {
    metadata: { name: "a" },
    spec: { size: 1 },
    apiVersion: "example.com/v1",
    kind: "Widget",
  });
  assert.equal(apply!.path, `${base}/default/widgets/a?fieldManager=me&dryRun=All&force=true`);
  assert.equal(apply!.headers["content-type"], "application/apply-patch+yaml");
  assert.equal(patch!.path, `${base}/default/widgets/a/status?fieldManager=me`);
  assert.equal(patch!.headers["content-type"], "application/merge-patch+json");
});

test("an object of another kind is refused before anything is sent", async () => {
  const { transport, requests } = scripted();
  const wrong = { ...widget("a", "1"), kind: "Gadget" };
  await assert.rejects(
    new Client(transport).update(Widget, wrong),
    /expected an object of example.com\/v1 Widget, got/,
  );
  assert.equal(requests.length, 0);
});

test("an object that its kind has made needs no kind before it, and a copy of it does", async () => {
  const answer = json({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } }, 201);
  const { transport, requests } = scripted(answer, answer);
  const client = new Client(transport, { namespace: "mine" });
  const draft = ConfigMap.draft({ metadata: { name: "a" }, data: { sky: "blue" } });
  const created = await client.create(ConfigMap.new({ metadata: { name: "a" } }), { dryRun: true });
  assert.equal(created.data, undefined);
  await client.apply(draft);
  assert.deepEqual(
    requests.map(({ method, path }) => `${method} ${path.split("?")[0]}`),
    ["POST /api/v1/namespaces/mine/configmaps", "PATCH /api/v1/namespaces/mine/configmaps/a"],
  );
  // @ts-expect-error: a copy is not checked for misspelled fields, so it does not have the mark of what a kind makes.
  const copied = client.create({ ...draft });
  await assert.rejects(copied, /^TypeError: create: the object does not know its kind.*create\(Kind, object\)$/);
});

test("a delete carries preconditions and returns whether the object still exists", async () => {
  const lingering = { ...widget("a", "2"), metadata: { ...widget("a", "2").metadata, deletionTimestamp: "now" } };
  const { transport, requests } = scripted(
    json(lingering),
    json({ kind: "Status", apiVersion: "v1", status: "Success" }),
  );
  const client = new Client(transport);
  const options = { preconditions: { uid: "u" }, propagationPolicy: "Foreground" as const };
  assert.equal((await client.delete(Widget, "a", options))?.metadata.deletionTimestamp, "now");
  assert.equal(await client.delete(Widget, "a"), undefined);
  const { preconditions, propagationPolicy } = JSON.parse(requests[0]!.body as string);
  assert.deepEqual({ preconditions, propagationPolicy }, options);
  assert.equal(requests[1]!.body, undefined);
});

test("the server's Status becomes an ApiError", async () => {
  const { transport } = scripted(failure(404, "NotFound", 'widgets.example.com "a" not found'));
  await assert.rejects(new Client(transport).get(Widget, "a"), (error: unknown) => {
    assert.ok(isNotFound(error));
    assert.equal((error as ApiError).message, 'widgets.example.com "a" not found');
    return true;
  });
});

test("an error without a Status still has a code, a reason and what was said", async () => {
  const { transport } = scripted(() => ({ status: 502, headers: {}, body: "upstream is away" }));
  await assert.rejects(
    new Client(transport).create(Widget, { metadata: { name: "a" } }),
    (error: unknown) => error instanceof ApiError && error.code === 502 && error.message === "upstream is away",
  );
});

test("a call that gets no answer ends at its deadline, and only of a write is the outcome then unknown", async () => {
  const clock = new VirtualClock();
  const { transport, requests } = scripted(silence, silence);
  const client = new Client(transport, { clock });
  const outcomes = Promise.allSettled([
    client.get(Widget, "a", { timeout: 1000 }),
    client.create(Widget, { metadata: { name: "a" } }, { deadline: clock.monotonic() + 2000 }),
  ]);
  await clock.advance(2000);
  const errors = (await outcomes).map((outcome) => (outcome as PromiseRejectedResult).reason as TransportError);
  assert.deepEqual(
    errors.map(({ code, unknownOutcome }) => ({ code, unknownOutcome })),
    [
      { code: "timeout", unknownOutcome: false },
      { code: "timeout", unknownOutcome: true },
    ],
  );
  assert.ok(requests.every((request) => request.signal?.aborted));
});

test("a signal aborts a call, also while its body is on the way", async () => {
  const { transport } = scripted(stream(["{"], "silence"));
  const controller = new AbortController();
  const outcome = new Client(transport).get(Widget, "a", { signal: controller.signal });
  controller.abort(new Error("enough"));
  await assert.rejects(
    outcome,
    (error: unknown) => error instanceof TransportError && error.code === "aborted" && error.cause instanceof Error,
  );
});

test("an answer that is cut short or is not JSON is a typed error", async () => {
  const { transport } = scripted(stream(['{"kind":'], "break"), stream(["<html>"]));
  const client = new Client(transport, { retry: false });
  const codeOf = (error: TransportError) => error.code;
  assert.equal(await client.get(Widget, "a").catch(codeOf), "closed");
  assert.equal(await client.get(Widget, "a").catch(codeOf), "malformed");
});

test("metadata only asks for it, and keeps the object's own kind", async () => {
  const partial = { ...widget("a", "1"), apiVersion: "meta.k8s.io/v1", kind: "PartialObjectMetadata" };
  const { transport, requests } = scripted(json(partial));
  const object = await new Client(transport).get(metadataOnly(Widget), "a");
  assert.equal(requests[0]!.headers.accept, "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1");
  assert.deepEqual([object.apiVersion, object.kind], ["example.com/v1", "Widget"]);
});

test("warnings of the server reach the client's listener", async () => {
  const warnings: string[] = [];
  const header = '299 - "unknown field \\"spec.x\\"", 299 - "second"';
  const { transport } = scripted(json(widget("a", "1"), 200, { warning: header }));
  await new Client(transport, { onWarning: (message) => warnings.push(message) }).get(Widget, "a");
  assert.deepEqual(warnings, ['unknown field "spec.x"', "second"]);
});
