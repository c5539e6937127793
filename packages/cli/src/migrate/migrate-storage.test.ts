import assert from "node:assert/strict";
import { test } from "node:test";
import { CustomResourceDefinition } from "@konverge/kinds";
import { defineKind, z } from "@konverge/schema";
import { commandStage, until } from "../../test/command-stage.ts";
import { doctor } from "../doctor/doctor.ts";
import { MIGRATION_ANNOTATION, type MigrateOptions, migrateStorage } from "./migrate-storage.ts";

const NAME = "things.test.example.com";
const spec = z.object({ text: z.string() });
const thing = (stored: "v1" | "v2") =>
  defineKind({ group: "test.example.com", kind: "Thing", stored, versions: { v1: { spec }, v2: { spec } } });

test("a migration that is interrupted goes on where it was, and then the old version is no longer stored", async () => {
  await using stage = await commandStage({ nodes: [] });
  const { client } = stage;
  const [Old, New] = [thing("v1"), thing("v2")];
  await client.create(CustomResourceDefinition, Old.crd());
  await until("things are served", () => client.list(Old).then(() => true));
  for (let i = 0; i < 10; i++) {
    await client.create(Old.new({ metadata: { name: `t${i}`, namespace: "default" }, spec: { text: "a" } }));
  }
  await client.apply(CustomResourceDefinition, New.crd() as never, { fieldManager: "test", force: true });
  const stored = async () => (await client.get(CustomResourceDefinition, NAME)).status?.storedVersions;
  await until("both versions are stored", async () => (await stored())?.length === 2);
  const [found] = (await doctor(client, { namespace: "default", observe: 0, operators: [] })).filter(
    ({ check }) => check === "versions",
  );
  assert.match(
    `${found?.problem} ${found?.fix}`,
    /may still be stored as v1, though .* v2 .*konverge migrate-storage things\.test\.example\.com/,
  );

  const stop = new AbortController();
  const seen: number[] = [];
  const options = (signal: AbortSignal): MigrateOptions => ({
    ...{ crds: [], pageSize: 4, stop: signal },
    progress: ({ done }) => {
      seen.push(done);
      if (done === 4) stop.abort();
    },
  });
  assert.deepEqual(await migrateStorage(client, options(stop.signal)), [
    { crd: NAME, version: "v2", removed: [], objects: 4 },
  ]);
  assert.deepEqual(await stored(), ["v1", "v2"]);

  const goesOn = new AbortController().signal;
  const result = { crd: NAME, version: "v2", removed: ["v1"], objects: 6, resumedAfter: "default/t3" };
  assert.deepEqual(await migrateStorage(client, { ...options(goesOn), progress: () => {} }), [result]);
  assert.deepEqual(await stored(), ["v2"]);
  const { metadata } = await client.get(CustomResourceDefinition, NAME);
  assert.equal(metadata.annotations?.[MIGRATION_ANNOTATION], undefined);
  assert.deepEqual(seen, [4]);
  assert.deepEqual(await migrateStorage(client, options(goesOn)), []);
  await assert.rejects(migrateStorage(client, { ...options(goesOn), crds: ["a.b"] }), /the cluster has no CRD a\.b/);
});
