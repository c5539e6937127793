import assert from "node:assert/strict";
import { test } from "node:test";
import { failure, json, type Step } from "../../test/scripted-server.ts";
import { Client } from "../client.ts";
import { UnknownKindError } from "./rest-mapper.ts";

const resource = (plural: string, kind: string, scope = "Namespaced", more = {}) => ({
  resource: plural,
  responseKind: { group: "", version: "", kind },
  scope,
  singularResource: kind.toLowerCase(),
  verbs: ["get", "list"],
  ...more,
});

const aggregated: Record<string, Step> = {
  "/api": json({
    kind: "APIGroupDiscoveryList",
    items: [
      {
        metadata: {},
        versions: [
          {
            version: "v1",
            freshness: "Current",
            resources: [
              resource("pods", "Pod", "Namespaced", {
                shortNames: ["po"],
                subresources: [{ subresource: "log", verbs: ["get"] }],
              }),
              resource("nodes", "Node", "Cluster"),
            ],
          },
        ],
      },
    ],
  }),
  "/apis": json({
    kind: "APIGroupDiscoveryList",
    items: [
      {
        metadata: { name: "apps" },
        versions: [
          {
            version: "v1",
            resources: [resource("deployments", "Deployment", "Namespaced", { shortNames: ["deploy"] })],
          },
        ],
      },
      {
        metadata: { name: "example.com" },
        versions: [
          { version: "v2", resources: [resource("widgets", "Widget")] },
          { version: "v1", resources: [resource("widgets", "Widget")] },
        ],
      },
      { metadata: { name: "metrics.k8s.io" }, versions: [{ version: "v1beta1", freshness: "Stale", resources: [] }] },
    ],
  }),
};

const plain: Record<string, Step> = {
  "/api": json({ kind: "APIVersions", versions: ["v1"] }),
  "/api/v1": json({
    resources: [
      { name: "pods", singularName: "pod", namespaced: true, kind: "Pod", verbs: ["get", "list"], shortNames: ["po"] },
      { name: "pods/log", namespaced: true, kind: "Pod", verbs: ["get"] },
      { name: "nodes", singularName: "node", namespaced: false, kind: "Node", verbs: ["get", "list"] },
    ],
  }),
  "/apis": json({
    kind: "APIGroupList",
    groups: [
      {
        versions: [{ groupVersion: "apps/v1", version: "v1" }],
        preferredVersion: { groupVersion: "apps/v1", version: "v1" },
      },
      {
        versions: [
          { groupVersion: "example.com/v1", version: "v1" },
          { groupVersion: "example.com/v2", version: "v2" },
        ],
        preferredVersion: { groupVersion: "example.com/v2", version: "v2" },
      },
      { versions: [{ groupVersion: "metrics.k8s.io/v1beta1", version: "v1beta1" }] },
    ],
  }),
  "/apis/apps/v1": json({
    resources: [
      {
        name: "deployments",
        singularName: "deployment",
        namespaced: true,
        kind: "Deployment",
        verbs: ["get", "list"],
        shortNames: ["deploy"],
      },
    ],
  }),
  "/apis/example.com/v1": json({
    resources: [{ name: "widgets", singularName: "widget", namespaced: true, kind: "Widget", verbs: ["get", "list"] }],
  }),
  "/apis/example.com/v2": json({
    resources: [{ name: "widgets", singularName: "widget", namespaced: true, kind: "Widget", verbs: ["get", "list"] }],
  }),
  "/apis/metrics.k8s.io/v1beta1": failure(503, "ServiceUnavailable", "its API server does not respond"),
};

function serving(answers: Record<string, Step>) {
  const asked: string[] = [];
  const client = new Client(
    async (request) => {
      asked.push(request.path);
      return (answers[request.path] ?? failure(404, "NotFound"))(request);
    },
    { retry: false },
  );
  return { client, asked };
}

test("aggregated discovery takes two requests, and gives the same as one request per group version", async () => {
  const [whole, pieces] = [serving(aggregated), serving(plain)];
  const surface = await whole.client.mapper.surface();
  assert.deepEqual(whole.asked, ["/api", "/apis"]);
  assert.deepEqual(await pieces.client.mapper.surface(), surface);
  assert.deepEqual(
    surface.resources.map(({ group, version, plural }) => `${plural}.${version}.${group}`),
    ["pods.v1.", "nodes.v1.", "deployments.v1.apps", "widgets.v2.example.com", "widgets.v1.example.com"],
  );
  assert.deepEqual(surface.resources[0]!.subresources, [{ name: "log", verbs: ["get"] }]);
});

test("a kind is found by its name, in a given version or in the preferred one", async () => {
  const { client } = serving(aggregated);
  assert.equal((await client.mapper.resolve({ apiVersion: "v1", kind: "Node" })).namespaced, false);
  assert.equal((await client.mapper.resolve({ apiVersion: "example.com/v1", kind: "Widget" })).version, "v1");
  assert.equal((await client.mapper.resolve({ group: "example.com", kind: "Widget" })).version, "v2");
});

test("a resource is found by what kubectl's users call it", async () => {
  const { client } = serving(aggregated);
  for (const [text, found] of [
    ["po", "pods"],
    ["Pod", "pods"],
    ["deploy.apps", "deployments"],
    ["deployments.v1.apps", "deployments"],
  ] as const) {
    assert.equal((await client.mapper.resolveResource(text)).plural, found);
  }
  assert.equal((await client.mapper.resolveResource("widgets.v1.example.com")).version, "v1");
});

test("a kind that was installed a moment ago is found, and look-ups at the same time ask once", async () => {
  const answers = { ...aggregated, "/apis": json({ kind: "APIGroupDiscoveryList", items: [] }) };
  const { client, asked } = serving(answers);
  await client.mapper.resolve({ apiVersion: "v1", kind: "Pod" });
  answers["/apis"] = aggregated["/apis"]!;
  asked.length = 0;
  const widget = { apiVersion: "example.com/v1", kind: "Widget" };
  await Promise.all([client.mapper.resolve(widget), client.mapper.resolve(widget)]);
  assert.deepEqual(asked, ["/api", "/apis"]);
  await client.mapper.resolve(widget);
  assert.equal(asked.length, 2);
});

test("an unknown kind is named, with what could not be looked at", async () => {
  const { client } = serving(aggregated);
  await assert.rejects(client.mapper.resolve({ apiVersion: "v1", kind: "Nope" }), (error: unknown) => {
    assert.ok(error instanceof UnknownKindError);
    assert.equal(error.message, "the server has no Nope of v1");
    return true;
  });
  await assert.rejects(
    client.mapper.resolve({ apiVersion: "metrics.k8s.io/v1beta1", kind: "PodMetrics" }),
    /the server has no PodMetrics of metrics.k8s.io\/v1beta1; metrics.k8s.io\/v1beta1 is unavailable: its API server/,
  );
});
