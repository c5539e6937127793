import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiServer } from "../server.ts";
import { type HealthCheck, healthAnswer } from "./health.ts";

const server = new ApiServer();
const get = async (path: string) => {
  const response = await server.fetch(`http://server${path}`);
  return { status: response.status, body: await response.text() };
};

test("a healthy server says so, on request check by check", async () => {
  assert.deepEqual(await get("/readyz"), { status: 200, body: "ok" });
  const { body } = await get("/livez?verbose");
  assert.match(body, /^\[\+\]ping ok\n\[\+\]etcd ok\n/);
  assert.match(body, /\nlivez check passed\n$/);
  assert.match(
    (await get("/readyz?verbose&exclude=etcd&exclude=moon")).body,
    /etcd excluded: ok[\s\S]*matches for "moon"/,
  );
  assert.deepEqual(await get("/healthz/poststarthook/rbac/bootstrap-roles"), { status: 200, body: "ok" });
  assert.equal((await get("/healthz/moon")).status, 404);
});

test("a server stays ready when what it created at its start is deleted", async () => {
  assert.equal((await get("/readyz")).status, 200);
  for (const path of [
    "/apis/rbac.authorization.k8s.io/v1/clusterroles/cluster-admin",
    "/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical",
  ])
    await server.fetch(`http://server${path}`, { method: "DELETE" });
  assert.deepEqual(await get("/readyz"), { status: 200, body: "ok" });
});

test("one check that fails is enough, and its reason stays in the house", async () => {
  const checks: HealthCheck[] = [
    { name: "ping", holds: () => true },
    {
      name: "disk",
      holds() {
        throw new Error("secret");
      },
    },
  ];
  const info = (path: string, query = "") =>
    ({ path, query: new URLSearchParams(query) }) as unknown as Parameters<typeof healthAnswer>[0];
  const all = (await healthAnswer(info("/readyz"), checks))!;
  assert.equal(all.status, 500);
  assert.equal(all.body, "[+]ping ok\n[-]disk failed: reason withheld\nreadyz check failed\n");
  assert.equal((await healthAnswer(info("/readyz/disk"), checks))!.status, 500);
  assert.equal((await healthAnswer(info("/readyz", "exclude=disk"), checks))!.status, 200);
});

test("metrics count what was asked and what is stored", async () => {
  const counted = new ApiServer();
  const ask = async (path: string) => (await counted.fetch(`http://server${path}`)).text();
  await ask("/api/v1/namespaces");
  await ask("/api/v1/namespaces/default/pods/nobody");
  await ask("/api/v1/namespaces/default/pods/nobody");
  const metrics = await ask("/metrics");
  assert.match(
    metrics,
    /^apiserver_request_total\{code="404",.*resource="pods",scope="resource",.*verb="GET",.*\} 2$/m,
  );
  assert.match(
    metrics,
    /^apiserver_request_total\{code="200",.*resource="namespaces",scope="cluster",.*verb="LIST",.*\} 1$/m,
  );
  const { items } = JSON.parse(await ask("/api/v1/namespaces")) as { items: object[] };
  assert.ok(metrics.includes(`apiserver_resource_objects{group="",resource="namespaces"} ${items.length}\n`));
});

test("the root lists paths that all answer", async () => {
  const { paths } = JSON.parse((await get("/")).body) as { paths: string[] };
  assert.ok(paths.includes("/apis/apps/v1") && paths.includes("/livez/etcd"));
  for (const path of paths) assert.equal((await get(path)).status, 200, path);
});

test("a time limit that is none is refused on every path", async () => {
  for (const path of ["/version", "/healthz", "/apis", "/nowhere"]) {
    const { status, body } = await get(`${path}?timeout=soon`);
    assert.equal(status, 400, path);
    assert.equal(
      JSON.parse(body).message,
      'invalid timeout specified in the request URL - time: invalid duration "soon"',
    );
    assert.notEqual((await get(`${path}?timeout=1s`)).status, 400, path);
  }
});
