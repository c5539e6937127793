import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { VirtualClock } from "@konverge/core";
import { Deployment, StatefulSet } from "@konverge/kinds";
import { type Cluster, startCluster } from "../src/index.ts";

const VERSIONS = ["1.33", "1.34", "1.35", "1.36", "1.37"];
const labels = { app: "web" };
const container = { name: "web", image: "web:1" };

const started = (kubernetes?: string) =>
  startCluster({ clock: new VirtualClock(), images: ["web:1"], ...(kubernetes && { kubernetes }) });

async function json(cluster: Cluster, path: string, method = "GET", body?: object) {
  const headers = { "content-type": "application/json" };
  const response = await cluster.server.fetch(`http://x${path}`, {
    method,
    ...(body && { headers, body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const warning = response.headers.get("warning") ?? "";
  return { status: response.status, warning, body: text.startsWith("{") ? JSON.parse(text) : text };
}

/** The API server alone. */
const serverOf = (kubernetes?: string) =>
  startCluster({ clock: new VirtualClock(), parts: [], nodes: [], ...(kubernetes && { kubernetes }) });

/** Which of the versions answer a list of these. */
async function serving(path: string): Promise<string[]> {
  const found: string[] = [];
  for (const version of VERSIONS) {
    await using cluster = await serverOf(version);
    if ((await json(cluster, path)).status === 200) found.push(version);
  }
  return found;
}

describe("a cluster of a version", () => {
  for (const kubernetes of VERSIONS) {
    test(`${kubernetes} reports its version and runs a Deployment`, async () => {
      await using cluster = await started(kubernetes);
      const { body } = await json(cluster, "/version");
      assert.equal(`${body.major}.${body.minor}`, kubernetes);
      const template = { metadata: { labels }, spec: { containers: [container] } };
      await cluster.client.create(
        Deployment,
        Deployment.draft({
          metadata: { name: "web", namespace: "default" },
          spec: { replicas: 2, selector: { matchLabels: labels }, template },
        }),
      );
      await cluster.settled();
      const web = await cluster.client.get(Deployment, "default/web");
      assert.equal(web.status?.readyReplicas, 2);
    });
  }

  test("serves the groups and kinds of that version", async () => {
    assert.deepEqual(await serving("/apis/resource.k8s.io/v1/resourceclaims"), ["1.34", "1.35", "1.36", "1.37"]);
    assert.deepEqual(await serving("/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies"), [
      "1.36",
      "1.37",
    ]);
    assert.deepEqual(await serving("/apis/storagemigration.k8s.io/v1/storageversionmigrations"), ["1.37"]);
    assert.deepEqual(await serving("/api/v1/pods"), VERSIONS);
  });

  test("prunes a field that came later, with a warning, and rejects it where validation is strict", async () => {
    const pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "web" },
      spec: { containers: [container], hostnameOverride: "other" },
    };
    const path = "/api/v1/namespaces/default/pods";
    await using old = await serverOf("1.33");
    const pruned = await json(old, path, "POST", pod);
    assert.equal(pruned.status, 201);
    assert.equal(pruned.body.spec.hostnameOverride, undefined);
    assert.match(pruned.warning, /unknown field \\"spec\.hostnameOverride\\"/);
    const strict = await json(old, `${path}?fieldValidation=Strict`, "POST", pod);
    assert.match(strict.body.message, /strict decoding error: unknown field "spec\.hostnameOverride"/);
    await using later = await serverOf("1.35");
    assert.equal((await json(later, path, "POST", pod)).body.spec.hostnameOverride, "other");
  });

  test("drops a field whose feature gate is off without a warning, until the version in which it is on", async () => {
    const set = (replicas: number) =>
      StatefulSet.draft({
        metadata: { name: "db", namespace: "default" },
        spec: {
          replicas,
          serviceName: "db",
          selector: { matchLabels: labels },
          updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 2 } },
          template: { metadata: { labels }, spec: { containers: [container] } },
        },
      });
    const stored = async (kubernetes?: string) => {
      await using cluster = await serverOf(kubernetes);
      await cluster.client.create(StatefulSet, set(1));
      await cluster.client.update(StatefulSet, set(2));
      return (await cluster.client.get(StatefulSet, "default/db")).spec?.updateStrategy?.rollingUpdate?.maxUnavailable;
    };
    assert.equal(await stored(), undefined);
    assert.equal(await stored("1.36"), undefined);
    assert.equal(await stored("1.37"), 2);
  });

  test("keeps its version in forks", async () => {
    await using cluster = await serverOf("1.34");
    await using fork = await cluster.fork();
    assert.equal((await json(fork, "/version")).body.minor, "34");
  });

  test("is refused if it is not known", async () => {
    await assert.rejects(
      serverOf("1.20"),
      /Kubernetes 1\.20 is not served: choose one of 1\.33, 1\.34, 1\.35, 1\.36, 1\.37/,
    );
  });
});
