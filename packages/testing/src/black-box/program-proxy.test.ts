import assert from "node:assert/strict";
import { test } from "node:test";
import { ConnectionReset } from "@konverge/apiserver";
import { startCluster } from "@konverge/cluster";
import { type ApiRequest, readLines, readText, VirtualClock } from "@konverge/core";
import { ConfigMap } from "@konverge/kinds";
import { ClusterFollower } from "../explorer/cluster-follower.ts";
import type { Fault } from "../explorer/fault.ts";
import { FaultPlane } from "../explorer/fault-plane.ts";
import { ProgramProxy } from "./program-proxy.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";

async function setup(faults: readonly Fault[] = []) {
  const clock = new VirtualClock();
  const cluster = await startCluster({ clock, parts: [] });
  const follower = new ClusterFollower(cluster, "default");
  const plane = new FaultPlane(follower, faults);
  const proxy = new ProgramProxy(plane, clock);
  let crashes = 0;
  const start = (number: number) =>
    proxy.started(number, () => {
      crashes++;
      proxy.stopped();
    });
  start(1);
  const send = (method: string, path: string, body?: object) => {
    const request: ApiRequest = { method, path, headers: { "content-type": "application/json" } };
    return proxy.front(body ? { ...request, body: JSON.stringify(body) } : request, cluster.server.transport);
  };
  const create = (name: string) =>
    send("POST", CONFIG_MAPS, { apiVersion: "v1", kind: "ConfigMap", metadata: { name } });
  const exists = (name: string) =>
    cluster.client.get(ConfigMap, `default/${name}`).then(
      () => true,
      () => false,
    );
  return { clock, cluster, proxy, plane, send, create, exists, start, crashes: () => crashes };
}

const at = (what: string, nth = 1) => ({ on: "request", what, nth }) as const;

test("a crash before a write keeps it from the API server, and nothing gets through until the program is started again", async () => {
  const { cluster, create, exists, start, crashes, proxy } = await setup([
    { type: "crash", at: at("create configmaps/a"), when: "before" },
  ]);
  const abandoned = create("a");
  assert.equal(await exists("a"), false);
  assert.equal(crashes(), 1);
  await assert.rejects(create("b"), ConnectionReset);
  assert.equal(await exists("b"), false);
  assert.equal(proxy.isConnected, false);
  start(2);
  assert.equal((await create("b")).status, 201);
  assert.equal(proxy.isConnected, true);
  void abandoned.catch(() => {});
  await cluster.stop();
});

test("a response that is lost is a connection that is reset after the write took effect", async () => {
  const { cluster, create, exists } = await setup([{ type: "lost response", at: at("create configmaps/a") }]);
  await assert.rejects(create("a"), ConnectionReset);
  assert.equal(await exists("a"), true);
  await cluster.stop();
});

test("routine goes past the faults, and says nothing about whether the program is idle", async () => {
  const { clock, cluster, proxy, plane, send } = await setup();
  await send("GET", CONFIG_MAPS);
  await clock.advance(5_000);
  const lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "leader" }, spec: {} };
  const leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
  const created = await send("POST", leases, lease);
  const renewed = JSON.parse(await readText(created.body)) as object;
  assert.equal((await send("PUT", `${leases}/leader`, renewed)).status, 200);
  assert.equal((await send("GET", "/apis")).status, 200);
  assert.deepEqual([...proxy.leases], [`${leases}/leader`]);
  assert.equal(proxy.idleFor, 5_000);
  assert.deepEqual(
    plane.timeline.map(({ what }) => what),
    ["started", "list configmaps"],
  );
  await cluster.stop();
});

test("a stale cache of one resource keeps its events back, and those of others are on time", async () => {
  const { clock, cluster, create, send, proxy } = await setup([
    { type: "stale", at: at("create configmaps/a"), ms: 1_000, resource: "configmaps" },
  ]);
  const watched = async (resource: string) => {
    const { body } = await send("GET", `/api/v1/namespaces/default/${resource}?watch=true&resourceVersion=1`);
    return readLines(body);
  };
  const [configMaps, secrets] = [await watched("configmaps"), await watched("secrets")];
  let late = false;
  const event = configMaps.next().then((line) => {
    late = true;
    return line;
  });
  await create("a");
  await send("POST", "/api/v1/namespaces/default/secrets", {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "s" },
  });
  assert.match((await secrets.next()).value!, /"ADDED".*"Secret"/);
  assert.equal(late, false);
  assert.equal(proxy.isWatching, true);
  await clock.advance(1_000);
  assert.match((await event).value!, /"ADDED".*"name":"a"/);
  await cluster.stop();
});

test("bodies pass through as they are", async () => {
  const { cluster, send } = await setup();
  const response = await send("GET", CONFIG_MAPS);
  const direct = await cluster.server.transport({ method: "GET", path: CONFIG_MAPS, headers: {} });
  assert.equal(await readText(response.body), await readText(direct.body));
  await cluster.stop();
});
