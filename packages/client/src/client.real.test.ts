import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ApiError, isAlreadyExists, isConflict, isForbidden, isInvalid, isNotFound, keyOf } from "@konverge/core";
import {
  ConfigMap,
  CustomResourceDefinition,
  Deployment,
  Namespace,
  Pod,
  PodDisruptionBudget,
  ServiceAccount,
} from "@konverge/kinds";
import { findControlPlane, type RealCluster, startRealCluster } from "@konverge/real";
import { Widget } from "../test/scripted-server.ts";
import { type Client, connect, metadataOnly } from "./index.ts";

// Another version that has been built: KONVERGE_KUBERNETES=1.34.4.
const kubernetes = process.env.KONVERGE_KUBERNETES;
const plane = findControlPlane(kubernetes);
const options = { skip: plane.available ? false : plane.why };

let cluster: RealCluster;
let client: Client;
before(async () => {
  if (!plane.available) return;
  cluster = await startRealCluster({ ...(kubernetes && { kubernetes }) });
  client = await connect({ kubeconfig: cluster.kubeconfig });
});
after(async () => {
  await client?.close();
  await cluster?.stop();
});

const map = (name: string, data: Record<string, string> = {}, labels: Record<string, string> = {}) => ({
  metadata: { name, labels },
  data,
});

const deployment = (name: string, replicas: number) => ({
  metadata: { name },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: "main", image: "nginx" }] },
    },
  },
});

test("create, get, update and delete, with the server's own errors", options, async () => {
  const made = await client.create(ConfigMap, map("crud", { a: "1" }));
  assert.ok(made.metadata.uid);
  await assert.rejects(client.create(ConfigMap, map("crud")), isAlreadyExists);
  const read = await client.get(ConfigMap, "default/crud");
  assert.deepEqual(read.data, { a: "1" });
  const updated = await client.update(ConfigMap, { ...read, data: { a: "2" } });
  assert.notEqual(updated.metadata.resourceVersion, read.metadata.resourceVersion);
  await assert.rejects(client.update(ConfigMap, { ...read, data: { a: "3" } }), isConflict);
  await assert.rejects(client.delete(ConfigMap, "crud", { preconditions: { uid: "other" } }), isConflict);
  assert.equal(await client.delete(ConfigMap, "crud", { preconditions: { uid: made.metadata.uid } }), undefined);
  await assert.rejects(client.get(ConfigMap, "crud"), isNotFound);
  await assert.rejects(client.create(ConfigMap, map("Not A Name")), isInvalid);
});

test("an object with a finalizer stays after its deletion, with a deletionTimestamp", options, async () => {
  await client.create(ConfigMap, { metadata: { name: "lingering", finalizers: ["example.com/wait"] } });
  const lingering = await client.delete(ConfigMap, "lingering");
  assert.ok(lingering?.metadata.deletionTimestamp);
  await client.patch(ConfigMap, "lingering", { merge: { metadata: { finalizers: null } } });
  await assert.rejects(client.get(ConfigMap, "lingering"), isNotFound);
});

test("a dry run changes nothing, and a generated name is returned", options, async () => {
  await client.create(ConfigMap, map("dry"), { dryRun: true });
  await assert.rejects(client.get(ConfigMap, "dry"), isNotFound);
  const { metadata } = await client.create(ConfigMap, { metadata: { generateName: "gen-" } });
  assert.match(metadata.name, /^gen-[a-z0-9]{5}$/);
});

test("lists select by labels and fields, and come in pages", options, async () => {
  const namespace = "paged";
  await client.create(Namespace, { metadata: { name: namespace } });
  await Promise.all(
    Array.from({ length: 25 }, (_, i) =>
      client.create(ConfigMap, {
        ...map(`m${i}`),
        metadata: { name: `m${i}`, namespace, labels: { parity: i % 2 ? "odd" : "even" } },
      }),
    ),
  );
  const even = await client.list(ConfigMap, { namespace, labelSelector: "parity in (even)" });
  assert.equal(even.items.length, 13);
  assert.ok(even.items.every((item) => item.kind === "ConfigMap" && item.apiVersion === "v1"));
  const one = await client.list(ConfigMap, { namespace, fieldSelector: "metadata.name=m7" });
  assert.deepEqual(one.items.map(keyOf), ["paged/m7"]);
  const page = await client.list(ConfigMap, { namespace, limit: 10 });
  assert.equal(page.items.length, 10);
  assert.equal(page.metadata.remainingItemCount, 15);
  const names: string[] = [];
  for await (const item of client.each(ConfigMap, { namespace, limit: 10 })) names.push(item.metadata.name);
  assert.equal(new Set(names).size, 25);
  await client.deleteCollection(ConfigMap, { namespace, labelSelector: "parity=odd" });
  assert.equal((await client.list(ConfigMap, { namespace })).items.length, 13);
});

test("all four kinds of patch", options, async () => {
  await client.create(Deployment, deployment("patched", 1));
  const container = async () =>
    (await client.get(Deployment, "patched")).spec!.template.spec!.containers.map(
      ({ name, image }) => `${name}=${image}`,
    );
  await client.patch(Deployment, "patched", {
    strategic: { spec: { template: { spec: { containers: [{ name: "side", image: "busybox" }] } } } },
  });
  assert.deepEqual(await container(), ["side=busybox", "main=nginx"]);
  await client.patch(Deployment, "patched", {
    json: [
      { op: "test", path: "/spec/template/spec/containers/0/name", value: "side" },
      { op: "remove", path: "/spec/template/spec/containers/0" },
    ],
  });
  assert.deepEqual(await container(), ["main=nginx"]);
  const merged = await client.patch(Deployment, "patched", { merge: { spec: { replicas: 4 } } });
  assert.equal(merged.spec!.replicas, 4);
  const status = await client.patchStatus(Deployment, "patched", { merge: { status: { replicas: 2 } } });
  assert.equal(status.status?.replicas, 2);
});

test("server-side apply owns what it says, and conflicts unless forced", options, async () => {
  const apply = (data: Record<string, string>, fieldManager: string, force = false) =>
    client.apply(ConfigMap, { metadata: { name: "applied" }, data }, { fieldManager, force });
  await apply({ a: "1", b: "1" }, "one");
  await assert.rejects(apply({ a: "2" }, "two"), isConflict);
  await apply({ a: "2" }, "two", true);
  const after = await apply({}, "one");
  assert.deepEqual(after.data, { a: "2" }, "what one left out is gone, what two owns stays");
});

test("status by update and by apply, of a custom resource", options, async () => {
  const schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  await client.create(CustomResourceDefinition, {
    metadata: { name: "widgets.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { kind: "Widget", plural: "widgets", singular: "widget", shortNames: ["wdg"] },
      versions: [
        { name: "v1", served: true, storage: true, subresources: { status: {} }, schema: { openAPIV3Schema: schema } },
      ],
    },
  } as never);
  let made: Widget | undefined;
  for (let tries = 0; !made; tries++) {
    made = await client.create(Widget, { metadata: { name: "w" }, spec: { size: 1 } }).catch((error: unknown) => {
      // The server takes a moment to serve a new kind.
      if (!isNotFound(error) || tries > 200) throw error;
      return undefined;
    });
  }
  const updated = await client.updateStatus(Widget, { ...made, spec: { size: 9 }, status: { ready: true } });
  assert.deepEqual([updated.spec, updated.status], [{ size: 1 }, { ready: true }]);
  const applied = await client.applyStatus(
    Widget,
    { metadata: { name: "w" }, status: { ready: false } },
    { force: true },
  );
  assert.deepEqual(applied.status, { ready: false });
  const found = await client.mapper.resolve({ apiVersion: "example.com/v1", kind: "Widget" });
  assert.equal((await client.get(found, "w")).metadata.uid, made.metadata.uid);
});

test("scale", options, async () => {
  await client.create(Deployment, deployment("scaled", 1));
  assert.equal((await client.scale(Deployment, "scaled", 5)).spec.replicas, 5);
  assert.equal((await client.getScale(Deployment, "scaled")).spec.replicas, 5);
});

test("an eviction is rejected while a disruption budget forbids it, with the reason", options, async () => {
  const { template, selector } = deployment("evicted", 1).spec;
  await client.create(Pod, { metadata: { name: "evicted", labels: template.metadata.labels }, spec: template.spec });
  const { metadata } = await client.create(PodDisruptionBudget, {
    metadata: { name: "evicted" },
    spec: { minAvailable: 1, selector },
  });
  await client.patchStatus(Pod, "evicted", {
    merge: { status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] } },
  });
  await assert.rejects(client.evict("evicted", { timeout: 2000 }), (error: unknown) => {
    assert.ok(error instanceof ApiError && error.code === 429);
    assert.equal(error.details?.causes?.[0]?.reason, "DisruptionBudget");
    return true;
  });
  await client.delete(PodDisruptionBudget, keyOf({ metadata }));
  await client.evict("evicted", { gracePeriodSeconds: 0 });
  await assert.rejects(client.get(Pod, "evicted"), isNotFound);
});

test("logs of a container that is not there, and exec without a node, are the server's errors", options, async () => {
  await client.create(Pod, { metadata: { name: "idle" }, spec: { containers: [{ name: "main", image: "nginx" }] } });
  await assert.rejects(
    client.logs("idle", { container: "nope" }).next(),
    (error: unknown) => error instanceof ApiError && error.code === 400,
  );
  await assert.rejects(
    client.exec("idle", ["ls"]),
    (error: unknown) => error instanceof ApiError && error.code === 400,
  );
  await assert.rejects(client.portForward("nope"), isNotFound);
});

test("only metadata, and tables", options, async () => {
  await client.create(ConfigMap, map("meta", { big: "x".repeat(1000) }));
  const partial = await client.get(metadataOnly(ConfigMap), "meta");
  assert.deepEqual([partial.apiVersion, partial.kind, "data" in partial], ["v1", "ConfigMap", false]);
  const items = (await client.list(metadataOnly(ConfigMap), { namespace: "default" })).items;
  assert.ok(items.length > 0 && items.every((item) => item.kind === "ConfigMap" && !("data" in item)));
  const watched: string[] = [];
  for await (const event of client.watch(metadataOnly(ConfigMap), { fieldSelector: "metadata.name=meta" })) {
    if ("object" in event) watched.push(`${event.type} ${event.object.kind} ${"data" in event.object}`);
    if (event.type === "SYNCED") await client.delete(metadataOnly(ConfigMap), "meta");
    if (event.type === "DELETED") break;
  }
  assert.deepEqual(watched, ["ADDED ConfigMap false", "DELETED ConfigMap false"]);
  await client.create(ConfigMap, map("tabular", { a: "1" }));
  const table = await client.table(ConfigMap, { namespace: "default", name: "tabular", includeObject: "None" });
  assert.deepEqual(
    table.columnDefinitions.map(({ name }) => name),
    ["Name", "Data", "Age"],
  );
  assert.deepEqual(table.rows[0]?.cells.slice(0, 2), ["tabular", 1]);
});

test("a token, whose it is, and what it may do", options, async () => {
  await client.create(ServiceAccount, { metadata: { name: "robot" } });
  const { token } = await client.requestToken("robot", { expirationSeconds: 3600 });
  const user = "system:serviceaccount:default:robot";
  const verdict = await client.reviewToken(token);
  assert.equal(verdict.authenticated && verdict.user?.username, user);
  await using robot = await connect({
    config: { server: cluster.url, ca: { value: cluster.ca }, credentials: { token: { value: token } } },
  });
  assert.equal((await robot.whoAmI()).username, user);
  assert.equal((await robot.canI({ verb: "list", kind: Pod })).allowed, false);
  assert.equal((await client.canI({ verb: "list", kind: Pod })).allowed, true);
  assert.equal((await client.canI({ verb: "get", path: "/healthz" }, { who: { user: "nobody" } })).allowed, false);
  assert.ok((await robot.rulesIn("default")).resourceRules.length > 0);
  await assert.rejects(robot.list(Pod), isForbidden);
  const same = client.as({ user });
  assert.equal((await same.whoAmI()).username, user);
  await assert.rejects(same.list(Pod), isForbidden);
});

test("discovery says what kubectl says", options, async () => {
  const { stdout } = await cluster.kubectl(["api-resources", "-o", "name"]);
  const { resources, unavailable } = await client.mapper.refresh();
  const names = resources
    .filter(({ verbs }) => verbs.length > 0)
    .map(({ plural, group }) => (group ? `${plural}.${group}` : plural));
  assert.deepEqual([...new Set(names)].sort(), [...new Set(stdout.trim().split("\n"))].sort());
  assert.deepEqual(unavailable, []);
  assert.equal((await client.mapper.resolveResource("deploy")).kind, "Deployment");
  assert.match((await client.version()).gitVersion, /^v1\./);
});

test("warnings reach their listener", options, async () => {
  const warnings: string[] = [];
  await using talkative = await connect({
    kubeconfig: cluster.kubeconfig,
    onWarning: (message) => warnings.push(message),
  });
  await talkative.create(ConfigMap, { ...map("warned"), nonsense: 1 } as never);
  assert.deepEqual(warnings, ['unknown field "nonsense"']);
  await assert.rejects(
    talkative.create(ConfigMap, { ...map("strict"), nonsense: 1 } as never, { fieldValidation: "Strict" }),
    /unknown field "nonsense"/,
  );
});

test("a listing by stream and one by pages say the same", options, async () => {
  const listing = async (how: "stream" | "pages") => {
    const keys: string[] = [];
    for await (const event of client.watch(ConfigMap, { listing: how, pageSize: 7 })) {
      if (event.type === "ADDED") keys.push(`${keyOf(event.object)}@${event.object.metadata.resourceVersion}`);
      if (event.type === "SYNCED") return keys.sort();
    }
    return [];
  };
  const pages = await listing("pages");
  assert.ok(pages.length > 10);
  assert.deepEqual(await listing("stream"), pages);
});
