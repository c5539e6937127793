import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { ApiError, type JsonObject, type ManagedFieldsEntry, type Schema } from "@konverge/core";
import { excludeFields } from "./field-filter.ts";
import { FieldManager } from "./field-manager.ts";
import type { KindVersion } from "./updater.ts";

/** One write, and what the API server's own field manager made of it (see test/generated/structured-merge/README.md). */
interface Step {
  verb: "apply" | "update";
  version: "v1" | "v2";
  sub: string;
  manager: string;
  force?: boolean;
  body: JsonObject;
  expect?: JsonObject;
  error?: { message: string; code: number; causes?: string[] };
  now: string;
  /** What the times of managedFields were set to afterwards, so that the next write finds entries of different age. */
  times?: (string | null)[];
}

interface Fixtures {
  schema: Schema;
  cases: Step[][];
}

/** The two versions differ in the name of one field. */
function convert(object: JsonObject, version: string): JsonObject {
  const { spec } = object as { spec?: JsonObject };
  const result: JsonObject = { ...object, apiVersion: `example.com/${version}` };
  if (spec && typeof spec === "object") {
    const [from, to] = version === "v2" ? ["text", "title"] : ["title", "text"];
    const { [from]: value, ...rest } = spec;
    result["spec"] = value === undefined ? spec : { ...rest, [to]: value };
  }
  return result;
}

let now = 0;
const clock = { now: () => now };

function fieldManagers(v1: Schema): (version: string, subresource: string) => FieldManager {
  const { text, ...others } = v1.properties!["spec"]!.properties!;
  const spec = { ...v1.properties!["spec"], properties: { ...others, title: text! } } as Schema;
  const v2: Schema = { ...v1, properties: { ...v1.properties, spec } };
  const versions: Record<string, KindVersion> = {
    "example.com/v1": { schema: v1, convert: (object) => convert(object, "v1") },
    "example.com/v2": { schema: v2, convert: (object) => convert(object, "v2") },
  };
  const filter = (subresource: string) =>
    subresource === "" ? excludeFields(["f:status"]) : excludeFields(["f:spec"], ["f:metadata", "f:labels"]);
  return (version, subresource) =>
    new FieldManager({
      kind: { group: "example.com", version, kind: "Thing" },
      schema: versions[`example.com/${version}`]!.schema,
      clock,
      subresource,
      resetFields: { "example.com/v1": filter(subresource), "example.com/v2": filter(subresource) },
      version: (apiVersion) => versions[apiVersion],
    });
}

/** Where the API server lists things in the order of a Go map, so may we, but no two runs of it agree. */
function sortedLines(message: string): string[] {
  return message.split("\n").sort();
}

function retimed(object: JsonObject, times: Step["times"]): JsonObject {
  const metadata = object["metadata"] as { managedFields?: ManagedFieldsEntry[] };
  if (!times || !metadata.managedFields) return object;
  const managedFields = metadata.managedFields.map(({ time: _, ...entry }, index) => ({
    ...entry,
    ...(times[index] && { time: times[index] }),
  }));
  return { ...object, metadata: { ...metadata, managedFields } };
}

function replay(steps: Step[], managerFor: ReturnType<typeof fieldManagers>): void {
  let live: JsonObject | undefined;
  for (const step of steps) {
    const { verb, version, sub, manager, body, expect, error } = step;
    const managers = managerFor(version, sub);
    now = Date.parse(step.now);
    const before = JSON.stringify([live, body]);
    const current = live && convert(live, version);
    let result: JsonObject;
    try {
      result =
        verb === "apply"
          ? managers.apply(current, body, manager, { force: step.force ?? false })
          : managers.update(current, body, manager);
    } catch (thrown) {
      assert.ok(thrown instanceof ApiError, String((thrown as Error).stack));
      assert.ok(error, `unexpected ${thrown.message} for ${JSON.stringify(step)} on ${JSON.stringify(current)}`);
      assert.equal(
        thrown.code,
        error.code,
        `${thrown.message} for ${JSON.stringify(step)} on ${JSON.stringify(current)}`,
      );
      assert.deepEqual(sortedLines(thrown.message), sortedLines(error.message), JSON.stringify(step));
      const causes = (thrown.details?.causes ?? []).map((cause) => `${cause.reason}|${cause.message}|${cause.field}`);
      assert.deepEqual(causes.sort(), error.causes ?? []);
      continue;
    }
    assert.equal(JSON.stringify([live, body]), before, "arguments were changed");
    assert.ok(expect, `should have failed with ${error?.message}: ${JSON.stringify(step)}`);
    result = { ...result, metadata: { ...(result["metadata"] as JsonObject), uid: "u" } };
    assert.deepEqual(
      JSON.parse(JSON.stringify(convert(result, "v1"))),
      convert(expect, "v1"),
      `${JSON.stringify({ ...step, expect: undefined })}\non ${JSON.stringify(current)}`,
    );
    live = retimed(convert(result, "v1"), step.times);
  }
}

for (const name of ["one-version", "two-versions", "many-managers"]) {
  test(`sequences of writes leave the objects and owners that the API server leaves (${name})`, () => {
    const text = readFileSync(new URL(`../../test/generated/structured-merge/${name}.json`, import.meta.url), "utf8");
    const { schema, cases }: Fixtures = JSON.parse(text);
    const managerFor = fieldManagers(schema);
    for (const steps of cases) replay(steps, managerFor);
  });
}
