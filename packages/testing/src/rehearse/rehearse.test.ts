import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Snapshot } from "@konverge/apiserver";
import { ConfigMap, PersistentVolumeClaim, StatefulSet } from "@konverge/kinds";
import { controller, operator, ownedKind } from "@konverge/runtime";
import { defineKind, z } from "@konverge/schema";
import { embeddedTestBackend } from "../environment/embedded-test-backend.ts";
import { OperatorTestEnvironment } from "../environment/operator-test-environment.ts";
import type { RehearsalFinding } from "./rehearsal.ts";
import { rehearse } from "./rehearse.ts";

const Store = defineKind({
  group: "test.example.com",
  kind: "Store",
  versions: {
    v1: {
      spec: z.object({ size: z.int().default(1) }),
      status: z.object({ phase: z.string().optional(), ready: z.int().optional() }),
    },
  },
});

interface Version {
  readonly labels?: Readonly<Record<string, string>>;
  readonly env?: string;
  readonly onImmutable?: "recreate" | "report";
  readonly volume?: string;
  readonly map?: Readonly<Record<string, string>>;
  readonly oscillates?: boolean;
}

/** A version of an operator with a StatefulSet and a volume for each object. */
function storeOperator(version: Version = {}) {
  const { oscillates = false, onImmutable = "recreate", map } = version;
  return operator({
    name: "store-operator",
    description: "Keeps stores.",
    kinds: [Store],
    create: () => ({
      controllers: [
        controller(Store, {
          owns: [ownedKind(StatefulSet, { onImmutable }), PersistentVolumeClaim, ...(map ? [ConfigMap] : [])],
          reconcile: (store, { observed }) => {
            const { name } = store.metadata;
            const set = setOf(name, store.spec.size, version);
            const phase = oscillates && store.status?.phase === "Serving" ? "Checking" : "Serving";
            const maps = map ? [ConfigMap.draft({ metadata: { name }, data: map })] : [];
            return {
              children: [set, volumeOf(`${name}-${version.volume ?? "data"}`), ...maps],
              status: { phase, ready: observed(set)?.status?.readyReplicas ?? 0 },
              ...(oscillates && { requeueAfter: 10_000 }),
            };
          },
        }),
      ],
    }),
  });
}

function setOf(name: string, replicas: number, { labels = { app: "store" }, env }: Version) {
  const selected = { ...labels, store: name };
  const variables = env === undefined ? {} : { env: [{ name: "MODE", value: env }] };
  return StatefulSet.draft({
    metadata: { name },
    spec: {
      replicas,
      serviceName: name,
      selector: { matchLabels: selected },
      template: {
        metadata: { labels: selected },
        spec: { containers: [{ name: "a", image: "example.com/store", ...variables }] },
      },
    },
  });
}

function volumeOf(name: string) {
  const spec = { accessModes: ["ReadWriteOnce" as const], resources: { requests: { storage: "1Gi" } } };
  return PersistentVolumeClaim.draft({ metadata: { name }, spec });
}

let state: Snapshot;
before(async () => {
  const backend = await embeddedTestBackend({ strictImages: false });
  const environment = new OperatorTestEnvironment(backend);
  await environment.start(storeOperator());
  for (const name of ["a", "b"])
    await environment.apply(Store.new({ metadata: { name, namespace: "stage" }, spec: { size: 2 } }));
  await environment.settled();
  await environment.end();
  state = backend.cluster.snapshot();
  await backend.end();
});

const against = storeOperator();
const types = (findings: readonly RehearsalFinding[]) => [...new Set(findings.map(({ type }) => type))].sort();

test("an upgrade without changes is quiet", async () => {
  const { findings, notes, load, objects } = await rehearse({ state, operator: storeOperator(), against });
  assert.deepEqual(findings, []);
  assert.deepEqual(notes, []);
  assert.ok(objects > 10);
  assert.deepEqual(load.new.verbs, load.old?.verbs);
});

test("a changed label that replaces StatefulSets is found, with their names", async () => {
  const { findings } = await rehearse({ state, operator: storeOperator({ labels: { app: "shop" } }), against });
  const recreated = findings.find(({ type }) => type === "recreation");
  assert.deepEqual([recreated?.resource, recreated?.objects], ["statefulsets.apps", ["stage/a", "stage/b"]]);
  assert.ok(findings.some(({ type, objects }) => type === "restart" && objects.includes("stage/a")));
  const writes = findings
    .filter(({ type }) => type === "write")
    .map(({ resource, message }) => `${resource}: ${message}`);
  assert.deepEqual(writes, [
    "statefulsets.apps: it is deleted and created again",
    "stores.test.example.com: status changes for a while, and is as before in the end",
  ]);
});

test("a field that cannot change is found, with what the API server answers", async () => {
  const operator = storeOperator({ labels: { app: "shop" }, onImmutable: "report" });
  const { findings } = await rehearse({ state, operator, against });
  const immutable = findings.find(({ type }) => type === "immutable");
  assert.match(immutable?.message ?? "", /is refused: .*updates to statefulset spec for fields other than/);
  assert.deepEqual(immutable?.objects, ["stage/a", "stage/b"]);
});

test("a volume that is deleted is found", async () => {
  const { findings } = await rehearse({ state, operator: storeOperator({ volume: "store" }), against });
  const volume = findings.find(({ type, resource }) => type === "volume" && resource === "persistentvolumeclaims");
  assert.deepEqual(volume?.objects, ["stage/a-data", "stage/b-data"]);
});

test("a default that restarts all pods is found, with the field that does it", async () => {
  const { findings } = await rehearse({ state, operator: storeOperator({ env: "fast" }), against });
  const restart = findings.find(({ type }) => type === "restart");
  assert.deepEqual([restart?.resource, restart?.objects], ["statefulsets.apps", ["stage/a", "stage/b"]]);
  const write = findings.find(({ type }) => type === "write");
  assert.match(write?.message ?? "", /^spec\.template\.spec\.containers\[a\]\.env: nothing becomes/);
  assert.deepEqual(write?.objects, ["stage/a", "stage/b"]);
});

test("a status that oscillates is found, with its values", async () => {
  const { findings } = await rehearse({ state, operator: storeOperator({ oscillates: true }), against });
  const unending = findings.find(({ type }) => type === "unending");
  assert.match(unending?.message ?? "", /^status\.phase is written again and again, .*"Serving"/);
  assert.deepEqual(unending?.objects, ["stage/a", "stage/b"]);
});

test("an object that only the new version creates is one finding, and without an old version a note says what is compared", async () => {
  const operator = storeOperator({ map: { key: "value" } });
  const { findings } = await rehearse({ state, operator, against });
  assert.deepEqual(findings, [
    { type: "write", resource: "configmaps", objects: ["stage/a", "stage/b"], message: "it is created" },
  ]);
  const alone = await rehearse({ state, operator });
  assert.match(alone.notes.join(), /no old version/);
  assert.deepEqual(types(alone.findings), ["write"]);
});

test("crashes of the new version during its first reconciles lead to the same state", async () => {
  const { findings, crashes } = await rehearse({
    state,
    operator: storeOperator({ env: "fast" }),
    against,
    crashes: 2,
  });
  assert.equal(crashes, 4);
  assert.deepEqual(
    findings.filter(({ type }) => type === "crash"),
    [],
  );
});
