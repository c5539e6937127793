import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import {
  ApiError,
  apiVersionOf,
  type GroupVersionKind,
  isObject,
  type JsonObject,
  type ManagedFieldsEntry,
  type Schema,
} from "@konverge/core";
import { builtinSchema } from "@konverge/kinds";
import { findControlPlane, type RealCluster, startRealCluster } from "@konverge/real";
import { askReal } from "../../test/real-api.ts";
import { applyMergePatch } from "../patch/merge-patch.ts";
import { excludeFields } from "./field-filter.ts";
import { FieldManager } from "./field-manager.ts";
import { parentManagedFields, scaleManagedFields } from "./scale-fields.ts";

/** A write by a client: to a new object, over an object, by a merge patch, or by apply. */
interface Write {
  by: string;
  create?: JsonObject;
  merge?: JsonObject;
  apply?: JsonObject;
  force?: boolean;
  status?: boolean;
}

interface Subject {
  kind: GroupVersionKind;
  path: string;
  schema: Schema;
  hasStatus: boolean;
  /** Fields that the server fills in after it has worked out who owns what. */
  assigned?: string[];
}

const plane = findControlPlane();

describe("who owns what on a real API server", { skip: plane.available ? false : plane.why }, () => {
  let cluster: RealCluster;
  before(async () => {
    cluster = await startRealCluster();
  });
  after(() => cluster?.stop());

  /** Makes every write on the server, and checks each time that we would have recorded the same. */
  async function play(subject: Subject, name: string, writes: Write[]): Promise<JsonObject> {
    const { kind, path, schema, hasStatus } = subject;
    const apiVersion = apiVersionOf(kind);
    const managerFor = (status: boolean) => {
      const reset = excludeFields([status ? "f:spec" : "f:status"]);
      return new FieldManager({
        kind,
        schema,
        clock: { now: () => 0 },
        ...(status && { subresource: "status" }),
        ...(hasStatus && { resetFields: { [apiVersion]: reset } }),
      });
    };
    const whole = (body: JsonObject): JsonObject => ({
      apiVersion,
      kind: kind.kind,
      ...body,
      metadata: { name, ...(body["metadata"] as JsonObject) },
    });
    let live: JsonObject | undefined;
    for (const [index, write] of writes.entries()) {
      const fields = managerFor(write.status ?? false);
      const context = `write ${index}: ${JSON.stringify(write)}`;
      const target = `${path}/${name}${write.status ? "/status" : ""}?fieldManager=${write.by}`;
      if (write.apply) {
        const body = whole(write.apply);
        const force = write.force ?? false;
        const real = await askReal(cluster, "PATCH", `${target}&force=${force}`, body, "application/apply-patch+yaml");
        let ours: JsonObject;
        try {
          ours = fields.apply(live, body, write.by, { force });
        } catch (error) {
          assert.ok(error instanceof ApiError, String(error));
          assert.deepEqual(comparableStatus(error.status), comparableStatus(real.body), context);
          continue;
        }
        assert.ok(real.status < 300, `${context}: ${JSON.stringify(real.body)}`);
        assert.deepEqual(owners(ours), owners(real.body), context);
        live = real.body;
      } else {
        const real = write.create
          ? await askReal(cluster, "POST", `${path}?fieldManager=${write.by}`, whole(write.create))
          : await askReal(cluster, "PATCH", target, write.merge, "application/merge-patch+json");
        assert.ok(real.status < 300, `${context}: ${JSON.stringify(real.body)}`);
        const sent = (write.merge?.["metadata"] as JsonObject | undefined)?.["managedFields"];
        const assigned = write.create ? (subject.assigned ?? []) : [];
        const next = withEntries(withoutAssigned(real.body, assigned), sent as ManagedFieldsEntry[] | undefined);
        assert.deepEqual(owners(fields.update(live, next, write.by)), owners(real.body), context);
        live = real.body;
      }
    }
    return live!;
  }

  const configMaps: Subject = {
    kind: { group: "", version: "v1", kind: "ConfigMap" },
    path: "/api/v1/namespaces/default/configmaps",
    schema: builtinSchema("", "v1", "ConfigMap"),
    hasStatus: false,
  };

  test("a ConfigMap passed around by several managers", async () => {
    const end = await play(configMaps, "passed-around", [
      { by: "creator", create: { data: { a: "1", b: "1" }, metadata: { labels: { x: "y" } } } },
      { by: "a", apply: { data: { a: "2" } } },
      { by: "a", apply: { data: { a: "2" } }, force: true },
      { by: "a", apply: { data: { a: "2" } } },
      { by: "b", apply: { data: { a: "2", c: "3" } } },
      { by: "patcher", merge: { data: { c: "4", b: null } } },
      { by: "b", apply: { data: { a: "5", c: "5" } } },
      { by: "b", apply: { data: { c: "4" } } },
      { by: "a", apply: {} },
      { by: "b", apply: { binaryData: { z: "AAEC" }, metadata: { labels: { q: "r" }, finalizers: ["x.io/y"] } } },
      { by: "patcher", merge: { metadata: { finalizers: null, managedFields: [{}] } } },
      { by: "late", apply: { data: { c: "9" } } },
      { by: "late", apply: { data: { d: "1" } } },
    ]);
    assert.deepEqual(end["data"], { c: "4", d: "1" });
  });

  const deployments: Subject = {
    kind: { group: "apps", version: "v1", kind: "Deployment" },
    path: "/apis/apps/v1/namespaces/default/deployments",
    schema: builtinSchema("apps", "v1", "Deployment"),
    hasStatus: true,
  };
  const podTemplate = (...containers: JsonObject[]) => ({
    metadata: { labels: { app: "web" } },
    spec: { containers },
  });
  const selector = { matchLabels: { app: "web" } };

  test("a Deployment: defaults, list items, status", async () => {
    await play(deployments, "web", [
      {
        by: "kubectl-create",
        create: {
          spec: {
            selector,
            template: podTemplate({
              name: "web",
              image: "nginx",
              ports: [{ containerPort: 80 }, { containerPort: 53, protocol: "UDP" }],
              env: [{ name: "A", value: "1" }],
              resources: { limits: { cpu: "1000m" } },
            }),
          },
        },
      },
      { by: "controller", status: true, merge: { status: { readyReplicas: 1, replicas: 1 } } },
      {
        by: "a",
        apply: {
          spec: { template: podTemplate({ name: "side", image: "busybox", ports: [{ containerPort: 80 }] }) },
        },
      },
      { by: "a", apply: { spec: { replicas: 3, template: podTemplate({ name: "web", image: "nginx:2" }) } } },
      {
        by: "a",
        force: true,
        apply: {
          spec: {
            replicas: 3,
            template: podTemplate({ name: "web", image: "nginx:2", ports: [{ containerPort: 80, name: "http" }] }),
          },
        },
      },
      { by: "hpa", merge: { spec: { replicas: 5 } } },
      { by: "a", apply: { spec: { template: podTemplate({ name: "web", image: "nginx:2" }) } } },
      { by: "a", apply: { spec: { template: podTemplate({ name: "web", image: "nginx:2" }) } } },
      { by: "cond", status: true, apply: { status: { conditions: [condition("Available", "True")] } } },
      { by: "cond", status: true, apply: { status: { conditions: [condition("Progressing", "True")] } } },
      { by: "a", apply: { spec: { replicas: "three" } } },
      { by: "a", apply: { spec: { replcas: 3 } } },
    ]);
  });

  test("a Deployment that was applied from the client's side", async () => {
    const configuration = {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "moved" },
      spec: { replicas: 1, selector, template: podTemplate({ name: "web", image: "nginx" }) },
    };
    const annotations = { "kubectl.kubernetes.io/last-applied-configuration": `${JSON.stringify(configuration)}\n` };
    const changed = { ...configuration.spec, replicas: 2 };
    const end = await play(deployments, "moved", [
      { by: "kubectl-client-side-apply", create: { ...configuration, metadata: { annotations } } },
      { by: "somebody", apply: { spec: changed } },
      { by: "kubectl", apply: { spec: changed } },
      { by: "hpa", merge: { spec: { replicas: 7 } } },
      { by: "kubectl", apply: { spec: { ...changed, replicas: 3 } } },
    ]);
    const { annotations: written } = end["metadata"] as { annotations: Record<string, string> };
    const last = JSON.parse(written["kubectl.kubernetes.io/last-applied-configuration"]!) as { spec: JsonObject };
    assert.equal(last.spec["replicas"], 2);
  });

  test("a Deployment whose Scale is written", async () => {
    const live = await play(deployments, "scaled", [
      { by: "creator", create: { spec: { replicas: 1, selector, template: podTemplate({ name: "w", image: "i" }) } } },
      { by: "a", apply: { spec: { replicas: 1 } } },
    ]);
    const replicas = { "apps/v1": ["f:spec", "f:replicas"] };
    const scales = new FieldManager({
      kind: { group: "autoscaling", version: "v1", kind: "Scale" },
      schema: builtinSchema("autoscaling", "v1", "Scale"),
      clock: { now: () => 0 },
      subresource: "scale",
    });
    let before = entriesOf(live)!;
    for (const count of [1, 4]) {
      const path = `${deployments.path}/scaled`;
      const scale = (await askReal(cluster, "GET", `${path}/scale`)).body;
      const old = withEntries(scale, scaleManagedFields(before, replicas));
      const change = { spec: { replicas: count } };
      const next = scales.update(old, applyMergePatch(old, change), "scaler");
      const real = await askReal(
        cluster,
        "PATCH",
        `${path}/scale?fieldManager=scaler`,
        change,
        "application/merge-patch+json",
      );
      assert.equal(real.status, 200, JSON.stringify(real.body));
      const after = (await askReal(cluster, "GET", path)).body;
      const ours = parentManagedFields(before, entriesOf(next), "apps/v1", replicas);
      assert.deepEqual(owners(withEntries(after, ours)), owners(after), `scaled to ${count}`);
      before = entriesOf(after)!;
    }
  });

  const services: Subject = {
    kind: { group: "", version: "v1", kind: "Service" },
    path: "/api/v1/namespaces/default/services",
    schema: builtinSchema("", "v1", "Service"),
    hasStatus: true,
    assigned: ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"],
  };

  test("a Service: ports are distinguished by number and protocol, which has a default", async () => {
    await play(services, "web", [
      {
        by: "creator",
        create: { spec: { selector: { app: "web" }, ports: [{ port: 80, name: "a" }] } },
      },
      { by: "a", apply: { spec: { ports: [{ port: 80, name: "a" }] } } },
      { by: "a", apply: { spec: { ports: [{ port: 80, name: "b", protocol: "TCP" }] } } },
      { by: "a", apply: { spec: { ports: [{ port: 80, name: "c", protocol: "UDP" }] } } },
      { by: "b", apply: { spec: { selector: { app: "other" } } } },
      { by: "b", force: true, apply: { spec: { selector: { app: "other" } } } },
      { by: "a", apply: { spec: { ports: [{ port: 443, name: "d", targetPort: "https" }] } } },
      { by: "a", apply: { spec: { ports: [{ port: 443 }, { port: 443, protocol: "TCP" }] } } },
    ]);
  });

  test("a custom resource with every kind of list and map", async () => {
    const text: Schema = { type: "string" };
    const schema: Schema = {
      type: "object",
      properties: {
        spec: {
          type: "object",
          properties: {
            size: { type: "integer" },
            names: { type: "array", "x-kubernetes-list-type": "set", items: text },
            args: { type: "array", items: text },
            ports: {
              type: "array",
              "x-kubernetes-list-type": "map",
              "x-kubernetes-list-map-keys": ["port", "protocol"],
              items: {
                type: "object",
                required: ["port"],
                properties: { port: { type: "integer" }, protocol: { type: "string", default: "TCP" }, note: text },
              },
            },
            whole: { type: "object", "x-kubernetes-map-type": "atomic", properties: { a: text, b: text } },
            limits: { type: "object", additionalProperties: text },
            free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
            percent: { "x-kubernetes-int-or-string": true },
            embedded: {
              type: "object",
              "x-kubernetes-embedded-resource": true,
              "x-kubernetes-preserve-unknown-fields": true,
            },
          },
        },
        status: { type: "object", properties: { ready: { type: "boolean" } } },
      },
    };
    await establish(schema);
    const things: Subject = {
      kind: { group: "example.com", version: "v1", kind: "Thing" },
      path: "/apis/example.com/v1/namespaces/default/things",
      schema,
      hasStatus: true,
    };
    const end = await play(things, "one", [
      {
        by: "creator",
        create: {
          metadata: { labels: { a: "b" } },
          spec: {
            size: 1,
            names: ["x", "y"],
            args: ["a", "b"],
            ports: [{ port: 80 }, { port: 80, protocol: "UDP", note: "n" }],
            whole: { a: "1" },
            limits: { cpu: "1" },
            free: { deep: { list: [1, 2], map: { k: "v" } } },
            percent: "50%",
            embedded: { apiVersion: "v1", kind: "Pod", metadata: { labels: { q: "r" } }, spec: { x: [1] } },
          },
        },
      },
      { by: "a", apply: { spec: { names: ["y", "z"], whole: { b: "2" }, free: { deep: { map: { l: "w" } } } } } },
      { by: "a", force: true, apply: { spec: { names: ["y", "z"], whole: { b: "2" }, limits: { memory: "1" } } } },
      { by: "b", apply: { spec: { ports: [{ port: 80, note: "mine" }, { port: 443 }], percent: 7 } } },
      { by: "b", apply: { spec: { ports: [{ port: 443 }], percent: "50%" } } },
      { by: "status", status: true, apply: { status: { ready: true }, spec: { size: 9 } } },
      { by: "a", apply: { spec: { names: ["z"] } } },
      { by: "b", apply: { spec: { embedded: { metadata: { labels: { q: "s" }, finalizers: ["f/f"] } } } } },
      { by: "b", apply: { spec: { unknown: 1 } } },
      { by: "b", apply: { spec: { names: ["z", "z"] } } },
      { by: "patcher", merge: { spec: { free: { deep: null, other: [1] }, args: null } } },
      { by: "a", apply: { spec: {} } },
    ]);
    assert.deepEqual((end["spec"] as JsonObject)["names"], ["x", "y"]);
  });

  async function establish(schema: Schema): Promise<void> {
    const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    const made = await askReal(cluster, "POST", crds, {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "things.example.com" },
      spec: {
        group: "example.com",
        scope: "Namespaced",
        names: { plural: "things", kind: "Thing" },
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            schema: { openAPIV3Schema: schema },
            subresources: { status: {} },
          },
        ],
      },
    });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    for (let tries = 0; tries < 200; tries++) {
      const { status } = await askReal(cluster, "GET", "/apis/example.com/v1/namespaces/default/things");
      if (status === 200) return;
      await sleep(50);
    }
    assert.fail("the kind was not served within ten seconds");
  }
});

function condition(type: string, status: string): JsonObject {
  const time = "2026-01-01T00:00:00Z";
  return { type, status, reason: "R", message: "m", lastTransitionTime: time, lastUpdateTime: time };
}

function entriesOf(object: JsonObject): ManagedFieldsEntry[] | undefined {
  return (object["metadata"] as JsonObject)["managedFields"] as ManagedFieldsEntry[] | undefined;
}

function withEntries(object: JsonObject, managedFields: ManagedFieldsEntry[] | undefined): JsonObject {
  return { ...object, metadata: { ...(object["metadata"] as JsonObject), managedFields } };
}

function withoutAssigned(object: JsonObject, names: readonly string[]): JsonObject {
  const { spec } = object;
  if (!isObject(spec) || names.length === 0) return object;
  return { ...object, spec: Object.fromEntries(Object.entries(spec).filter(([name]) => !names.includes(name))) };
}

/** Entries in an order that does not depend on the second in which each was made. */
function owners(object: JsonObject): unknown[] {
  const entries = (entriesOf(object) ?? []).map((entry) => (entry.time ? { ...entry, time: "T" } : entry));
  const key = (entry: ManagedFieldsEntry) => [entry.operation, entry.manager, entry.subresource].join("|");
  return JSON.parse(JSON.stringify(entries.sort((a, b) => (key(a) < key(b) ? -1 : 1)))) as unknown[];
}

/** The server lists conflicts in no particular order. */
function comparableStatus(status: object): unknown {
  const { message, details, ...rest } = status as { message: string; details?: { causes?: { field: string }[] } };
  const causes = details?.causes?.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  return { ...rest, message: message.split("\n").sort(), ...(causes && { causes }) };
}
