import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { saveSnapshot } from "@konverge/apiserver";
import { type Cluster, startCluster } from "@konverge/cluster";
import type { AnyObject } from "@konverge/core";
import { CustomResourceDefinition } from "@konverge/kinds";
import { operator } from "@konverge/runtime";
import { type AnyKind, defineKind, z } from "@konverge/schema";
import { commandStage } from "../../test/command-stage.ts";
import { storedFindingLine } from "./stored-findings.ts";
import { checkStored } from "./stored-objects.ts";

const folder = mkdtempSync(join(tmpdir(), "konverge-stored-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const released = defineKind({
  group: "test.example.com",
  kind: "Note",
  versions: { v1: { spec: z.object({ text: z.string(), size: z.int().optional(), color: z.string().optional() }) } },
});

const crdOf = (kind: AnyKind) => kind.crd() as unknown as CustomResourceDefinition;

/** A cluster with notes of these specs: `note-0`, `note-1`, … */
async function withNotes(...specs: object[]): Promise<Cluster> {
  const cluster = await startCluster({ parts: [], nodes: [] });
  await cluster.client.create(CustomResourceDefinition, released.crd());
  for (const [i, spec] of specs.entries()) {
    await cluster.client.create(released, {
      ...released.new({ metadata: { name: `note-${i}`, namespace: "default" }, spec: { text: "" } }),
      spec,
    } as never);
  }
  return cluster;
}

async function checked(
  cluster: Cluster,
  crd: CustomResourceDefinition,
  operators: Parameters<typeof checkStored>[2] = [],
) {
  const file = join(folder, "notes.snapshot");
  saveSnapshot(file, cluster.snapshot());
  const { findings, objects } = await checkStored([crd], { file }, operators);
  return [`${objects} objects`, ...findings.map(storedFindingLine)];
}

test("the CRD that is there changes nothing", async () => {
  await using cluster = await withNotes({ text: "a" }, { text: "b", size: 3, color: "red" });
  assert.deepEqual(await checked(cluster, crdOf(released)), ["2 objects"]);
});

test("what is refused, lost, tolerated and changed is told with the objects", async () => {
  await using cluster = await withNotes(
    { text: "a", size: 3 },
    { text: "long", color: "red" },
    { text: "b", size: 20 },
  );
  const next = defineKind({
    group: "test.example.com",
    kind: "Note",
    versions: {
      v1: {
        spec: z.object({
          text: z.string().max(3),
          size: z.int().max(10).optional(),
          mode: z.string().default("slow"),
          title: z.string(),
        }),
      },
    },
  });
  assert.deepEqual(await checked(cluster, crdOf(next)), [
    "3 objects",
    "refused: notes.test.example.com v1: default/note-0, default/note-1, default/note-2: the next change of its spec: spec.title: Required value",
    'lost: notes.test.example.com v1: default/note-1: spec.color is lost: it was "red"',
    "tolerated: notes.test.example.com v1: default/note-1: spec.text: Too long: may not be more than 3 bytes",
    "tolerated: notes.test.example.com v1: default/note-2: spec.size: Invalid value: 20: spec.size in body should be less than or equal to 10",
    'changed: notes.test.example.com v1: default/note-0, default/note-1, default/note-2: spec.mode becomes "slow"',
  ]);
});

const next = defineKind({
  group: "test.example.com",
  kind: "Note",
  stored: "v2",
  versions: {
    v1: { spec: z.object({ text: z.string(), size: z.int().optional(), color: z.string().optional() }) },
    v2: { spec: z.object({ body: z.string(), size: z.int().optional() }) },
  },
  conversion: {
    v1: {
      toStored: ({ spec: { text, size }, ...rest }) => {
        if (text === "unreadable") throw new Error("there is no body");
        return { ...rest, spec: { body: text, ...(size !== undefined && { size }) } };
      },
      fromStored: ({ spec: { body, size }, ...rest }) => ({
        ...rest,
        spec: { text: body, ...(size !== undefined && { size }) },
      }),
    },
  },
});

const convertingCrd = next.crd({
  conversionWebhook: { service: { name: "notes", namespace: "default", path: "/convert", port: 443 } },
}) as unknown as CustomResourceDefinition;

test("a conversion is made in both directions: what it cannot read and what it loses is told", async () => {
  await using cluster = await withNotes({ text: "a", size: 3 }, { text: "b", color: "red" }, { text: "unreadable" });
  const converting = operator({ name: "notes", description: "", kinds: [next], create: () => ({ controllers: [] }) });
  const lines = await checked(cluster, convertingCrd, [converting]);
  assert.deepEqual(lines.slice(0, 2), [
    "3 objects",
    "unreadable: notes.test.example.com v2: default/note-2: conversion webhook for test.example.com/v1, Kind=Note failed: there is no body",
  ]);
  assert.ok(
    lines.includes(
      'lost: notes.test.example.com v2: default/note-1: spec.color is lost when it is written as v2: it was "red"',
    ),
    lines.join("\n"),
  );
  assert.ok(
    lines.some((line) =>
      line.startsWith("stored: notes.test.example.com: objects may be stored as v1: konverge migrate-storage "),
    ),
    lines.join("\n"),
  );
  const [, ...unknown] = await checked(cluster, convertingCrd);
  assert.ok(unknown.some((line) => line.startsWith("unchecked: notes.test.example.com: conversion by a webhook: ")));
});

test("a CRD that the API server refuses, and one that is new, are told", async () => {
  await using cluster = await withNotes({ text: "a" });
  const renamed = defineKind({ group: "test.example.com", kind: "Note", versions: { v2: { spec: z.object({}) } } });
  const [count, refused] = await checked(cluster, crdOf(renamed));
  assert.equal(count, "1 objects");
  assert.match(
    refused!,
    /^stored: |^crd: notes\.test\.example\.com: .*status\.storedVersions\[0\]: Invalid value: "v1"/,
  );
  const other = defineKind({ group: "test.example.com", kind: "Other", versions: { v1: { spec: z.object({}) } } });
  assert.deepEqual(await checked(cluster, crdOf(other)), [
    "0 objects",
    "unchecked: others.test.example.com: the cluster does not have this CRD: there are no objects to check",
  ]);
});

test("a live cluster is only read", async () => {
  await using stage = await commandStage();
  const { client, cluster, kubeconfig } = stage;
  await client.create(CustomResourceDefinition, released.crd());
  await client.create(
    released,
    released.new({ metadata: { name: "a", namespace: "default" }, spec: { text: "a", color: "red" } }),
  );
  const before = cluster.server.store.revision;
  const { findings, objects } = await checkStored([convertingCrd], { live: { kubeconfig } }, []);
  assert.equal(objects, 1);
  assert.ok(findings.length > 0);
  const changes = cluster.server.store.collection("test.example.com/notes").changesAfter(before) ?? [];
  assert.deepEqual(changes as unknown as AnyObject[], []);
  await assert.rejects(
    checkStored([convertingCrd], { file: join(folder, "none") }, []),
    /is no context of the kubeconfig/,
  );
});
