import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { call } from "./api.ts";
import { findControlPlane, type RealCluster, startRealCluster } from "./index.ts";

// Each test is skipped, not the suite: node:test counts skipped tests alone.
const plane = findControlPlane();
const needed = ["kube-controller-manager", "kube-scheduler", "kwok"] as const;
const skip = !plane.available
  ? plane.why
  : needed.some((name) => plane.absent.includes(name)) && `${plane.folder} lacks ${plane.absent.join(", ")}`;

describe("the real control plane", () => {
  let cluster: RealCluster;
  before(async () => {
    if (skip) return;
    cluster = await startRealCluster({ controllers: true, scheduler: true, kwok: { nodes: 2, gpus: 4 } });
  });
  after(() => cluster?.stop());

  test("runs the pods of a Deployment on simulated GPU nodes", { skip }, async () => {
    const deployment = {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "web" },
      spec: {
        replicas: 3,
        selector: { matchLabels: { app: "web" } },
        template: {
          metadata: { labels: { app: "web" } },
          spec: {
            containers: [{ name: "c", image: "example.com/web", resources: { limits: { "nvidia.com/gpu": "2" } } }],
          },
        },
      },
    };
    const applied = await cluster.kubectl(["apply", "-f", "-"], JSON.stringify(deployment));
    assert.equal(applied.code, 0, applied.stderr);
    const rollout = await cluster.kubectl(["rollout", "status", "deployment/web", "--timeout=60s"]);
    assert.equal(rollout.code, 0, rollout.stderr);
    const pods = await cluster.kubectl(["get", "pods", "-o", "jsonpath={.items[*].status.phase}"]);
    assert.equal(pods.stdout, "Running Running Running");
  });

  test("calls itself by the version it was built from", { skip }, async () => {
    const { stdout } = await cluster.kubectl(["version", "-o", "json"]);
    const versions = JSON.parse(stdout) as Record<string, { gitVersion: string }>;
    assert.ok(plane.available);
    assert.equal(versions.serverVersion?.gitVersion, `v${plane.kubernetes}`);
    assert.equal(versions.clientVersion?.gitVersion, `v${plane.kubernetes}`);
  });

  test("judges other users by RBAC", { skip }, async () => {
    const { stdout } = await cluster.kubectl(["auth", "can-i", "list", "pods", "--as", "jane"]);
    assert.equal(stdout.trim(), "no");
  });

  test("keeps its data when the API server restarts, and forgets history when etcd compacts", { skip }, async () => {
    const api = { url: cluster.url, ca: cluster.ca, token: cluster.adminToken };
    await cluster.kubectl(["create", "configmap", "kept"]);
    await cluster.restartApiServer();
    assert.equal((await cluster.kubectl(["get", "configmap", "kept"])).code, 0);
    await cluster.kubectl(["create", "configmap", "later"]);
    const revision = await cluster.etcd.compact();
    assert.ok(revision > 1);
    const old = await call(
      api,
      "GET",
      `/api/v1/namespaces/default/configmaps?resourceVersion=1&resourceVersionMatch=Exact`,
    );
    assert.equal(old.status, 410);
  });

  test("leaves nothing behind", { skip }, async () => {
    const bare = await startRealCluster();
    const { folder, url } = bare;
    await bare.stop();
    await sleep(0);
    assert.equal(existsSync(folder), false);
    await assert.rejects(call({ url, ca: bare.ca, token: "" }, "GET", "/readyz"));
  });
});
