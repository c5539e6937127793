import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startApiServer } from "../start-api-server.ts";
import { type Cluster, startCluster } from "../start-cluster.ts";

let cluster: Cluster;
before(async () => {
  cluster = await startCluster();
});
after(() => cluster.stop());

const certificate = { commonName: "root", organizations: ["system:masters"], fingerprint: "" };
const get = async (path: string) => {
  const request = { method: "GET", path, headers: {} };
  const { status, headers } = await cluster.guard.handle(request, { address: "", certificate });
  return [status, headers["location"]];
};

test("a proxy redirects to itself, however its path was written", async () => {
  const location = "/api/v1/namespaces/default/services/web/proxy/";
  for (const path of ["/api/v1", "//api/v1", "/%61pi/v1"])
    assert.deepEqual(await get(`${path}/namespaces/default/services/web/proxy`), [301, location], path);
});

test("a watch of a proxy, and a proxy of nothing, reach no pod", async () => {
  for (const path of ["watch/namespaces/default/pods/web/proxy/x", "namespaces/default/pods//proxy/x"])
    assert.ok([404, 405].includes(Number((await get(`/api/v1/${path}`))[0])), path);
});

test("metrics are answered under their own group and version, without subresources", async () => {
  assert.deepEqual(await get("/apis/metrics.k8s.io/v1beta1/pods"), [200, undefined]);
  assert.deepEqual(await get("/apis/metrics.k8s.io/"), [200, undefined]);
  for (const path of [
    "metrics.k8s.io/v1/pods",
    "metrics.k8s.io.example.com/v1beta1/pods",
    "metrics.k8s.io/v1beta1/nodes/n/secrets",
  ])
    assert.deepEqual(await get(`/apis/${path}`), [404, undefined], path);
});

test("requests from outside belong to a flow schema and a priority level", async () => {
  const request = { method: "GET", path: "/api/v1/pods", headers: {} };
  await using alone = startApiServer();
  for (const { guard } of [cluster, alone]) {
    const { headers } = await guard.handle(request, { address: "", certificate });
    assert.match(String(headers["x-kubernetes-pf-flowschema-uid"]), /^[0-9a-f-]{36}$/);
    assert.match(String(headers["x-kubernetes-pf-prioritylevel-uid"]), /^[0-9a-f-]{36}$/);
  }
});
