import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { ApiError, isObject, type JsonObject } from "@konverge/core";
import { builtinSchema } from "@konverge/kinds";
import { findControlPlane, type RealCluster, startRealCluster } from "@konverge/real";
import { askReal } from "../../test/real-api.ts";
import { applyJsonPatch, decodeJsonPatch } from "./json-patch.ts";
import { applyMergePatch } from "./merge-patch.ts";
import { applyStrategicMergePatch } from "./strategic-merge.ts";

const plane = findControlPlane();
const deployments = "/apis/apps/v1/namespaces/default/deployments";
const schema = builtinSchema("apps", "v1", "Deployment");

const patchers = {
  json: {
    type: "application/json-patch+json",
    apply: (object: JsonObject, patch: unknown) => applyJsonPatch(object, decodeJsonPatch(patch).operations),
  },
  merge: { type: "application/merge-patch+json", apply: applyMergePatch<JsonObject> },
  strategic: {
    type: "application/strategic-merge-patch+json",
    apply: (object: JsonObject, patch: unknown) => applyStrategicMergePatch(object, patch, schema),
  },
};

describe("patches on a real API server", { skip: plane.available ? false : plane.why }, () => {
  let cluster: RealCluster;
  before(async () => {
    cluster = await startRealCluster();
    const labels = { app: "web" };
    const containers = [
      {
        name: "web",
        image: "nginx",
        ports: [{ containerPort: 80 }, { containerPort: 53, protocol: "UDP" }],
        env: [
          { name: "A", value: "1" },
          { name: "B", value: "2" },
        ],
        args: ["x", "y"],
      },
      { name: "side", image: "busybox" },
    ];
    const made = await askReal(cluster, "POST", deployments, {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "web", labels, finalizers: ["example.com/a", "example.com/b"] },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers, volumes: [{ name: "v", emptyDir: {} }] } },
      },
    });
    assert.equal(made.status, 201, JSON.stringify(made.body));
  });
  after(() => cluster?.stop());

  const template = (spec: JsonObject) => ({ spec: { template: { spec } } });
  const cases: [kind: keyof typeof patchers, patch: unknown][] = [
    ["json", [{ op: "replace", path: "/spec/replicas", value: 3 }]],
    ["json", [{ op: "test", path: "/spec/replicas", value: 7 }]],
    ["json", [{ op: "remove", path: "/spec/nothing" }]],
    ["json", [{ op: "add", path: "/metadata/labels/a~1b", value: "c" }]],
    ["json", [{ op: "add", path: "/spec/template/spec/containers/0/env/-", value: { name: "C", value: "3" } }]],
    ["json", [{ op: "move", from: "/spec/template/spec/containers/0", path: "/spec/template/spec/containers/1" }]],
    ["json", [{ op: "frob", path: "/spec" }]],
    ["json", { op: "add" }],
    ["json", [{ op: "add", path: 5 }]],
    ["merge", { metadata: { labels: { app: null, x: "y" } } }],
    ["merge", { spec: { template: { spec: { containers: [{ name: "only", image: "i", env: [{ name: "N" }] }] } } } }],
    ["merge", []],
    ["merge", null],
    ["strategic", template({ containers: [{ name: "web", image: "nginx:2", env: [{ name: "A", value: "9" }] }] })],
    ["strategic", template({ containers: [{ name: "side", $patch: "delete" }] })],
    ["strategic", template({ containers: [{ $patch: "replace" }, { name: "new", image: "i" }] })],
    ["strategic", template({ "$setElementOrder/containers": [{ name: "side" }, { name: "web" }] })],
    ["strategic", template({ containers: [{ name: "web", ports: [{ containerPort: 80, name: "http" }] }] })],
    ["strategic", template({ volumes: [{ name: "v", $retainKeys: ["name", "hostPath"], hostPath: { path: "/" } }] })],
    ["strategic", { spec: { strategy: { $retainKeys: ["type"], type: "Recreate" } } }],
    ["strategic", { spec: { strategy: { $patch: "replace", type: "Recreate" } } }],
    ["strategic", { metadata: { "$deleteFromPrimitiveList/finalizers": ["example.com/a"] } }],
    ["strategic", { metadata: { finalizers: ["example.com/c"] } }],
    ["strategic", { spec: { strategy: { $retainKeys: ["rollingUpdate"], type: "Recreate" } } }],
    ["strategic", template({ containers: [{ image: "nameless" }] })],
    ["strategic", template({ containers: [{ name: "web", $patch: "frob" }] })],
    ["strategic", { metadata: { $deleteFromPrimitiveList: ["x"] } }],
    ["strategic", []],
  ];

  for (const [kind, patch] of cases) {
    test(`${kind} ${JSON.stringify(patch)}`, async () => {
      const { type, apply } = patchers[kind];
      const live = (await askReal(cluster, "GET", `${deployments}/web`)).body;
      const real = await askReal(cluster, "PATCH", `${deployments}/web?dryRun=All`, patch as object, type);
      try {
        const ours = apply(live, patch);
        assert.equal(real.status, 200, JSON.stringify(real.body));
        assert.ok(covers(real.body["spec"], ours["spec"]), JSON.stringify([real.body["spec"], ours["spec"]]));
        const [theirs, mine] = [real.body["metadata"], ours["metadata"]] as JsonObject[];
        assert.deepEqual(mine!["labels"], theirs!["labels"]);
        assert.deepEqual(mine!["finalizers"], theirs!["finalizers"]);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        const { code, reason = "", message } = error.status;
        const { code: realCode, reason: realReason = "", message: realMessage } = real.body;
        assert.deepEqual([code, reason, message], [realCode, realReason, realMessage]);
      }
    });
  }
});

/** Whether a stored value is what a patch left, apart from defaults that were filled in and nulls that went. */
function covers(stored: unknown, left: unknown): boolean {
  if (Array.isArray(left)) {
    return Array.isArray(stored) && stored.length === left.length && left.every((it, i) => covers(stored[i], it));
  }
  if (!isObject(left)) return left === null || stored === left;
  if (!isObject(stored)) return Object.keys(left).length === 0;
  return Object.keys(left).every((key) => key.startsWith("$") || covers(stored[key], left[key]));
}
