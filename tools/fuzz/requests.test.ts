import assert from "node:assert/strict";
import { test } from "node:test";
import { connectionOf } from "./connections.ts";
import { limitOf } from "./limits.ts";
import { requestOf } from "./requests.ts";

test("a seed and a number always give the same request and the same connection", () => {
  for (let number = 0; number < 50; number++) {
    assert.deepEqual(requestOf(7, number), requestOf(7, number));
    assert.deepEqual(connectionOf(7, number), connectionOf(7, number));
    if (number < 5) assert.deepEqual(limitOf(7, number), limitOf(7, number));
  }
  assert.notDeepEqual(requestOf(7, 1), requestOf(8, 1));
});

test("requests have every method, content type and kind of path", () => {
  const requests = Array.from({ length: 1800 }, (_, number) => requestOf(1, number));
  const types = new Set(
    requests.flatMap(({ headers }) => headers.flatMap(([name, value]) => (name === "content-type" ? [value] : []))),
  );
  for (const type of ["json", "yaml", "cbor", "vnd.kubernetes.protobuf", "json-patch+json", "merge-patch+json"])
    assert.ok(types.has(`application/${type}`), type);
  for (const type of ["strategic-merge-patch+json", "apply-patch+yaml", "apply-patch+cbor"])
    assert.ok(types.has(`application/${type}`), type);
  const methods = new Set(requests.map(({ method }) => method));
  for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"]) assert.ok(methods.has(method), method);
  const paths = requests.map(({ target }) => target.split("?")[0]!);
  for (const part of [
    "status",
    "scale",
    "exec",
    "log",
    "portforward",
    "eviction",
    "proxy",
    "binding",
    "token",
    "finalize",
  ])
    assert.ok(
      paths.some((path) => path.endsWith(`/${part}`)),
      part,
    );
});

test("what would turn later requests away is never stored", () => {
  for (let number = 0; number < 2000; number++) {
    const { method, target, body } = requestOf(2, number);
    if (method !== "GET" && target.includes("webhookconfigurations")) assert.match(target, /dryRun=All$/);
    // A body would say otherwise.
    if (method === "DELETE" && /\/clusterrolebindings\?.*dryRun=All$/.test(target)) assert.equal(body.length, 0);
  }
});

test("requests at the limits reach the bounds of headers, paths and bodies, as an administrator and as a user without permissions", () => {
  const requests = Array.from({ length: 100 }, (_, number) => limitOf(3, number));
  const most = (size: (one: (typeof requests)[number]) => number) => Math.max(...requests.map(size));
  assert.ok(most(({ request }) => request.headers.length) > 20_000);
  assert.ok(most(({ request }) => request.target.length) > 1_000_000);
  assert.ok(most(({ request }) => request.body.length) > 3_000_000);
  assert.equal(new Set(requests.map(({ anonymous }) => anonymous)).size, 2);
  assert.ok(new Set(requests.map(({ what }) => what)).size > 30);
});
