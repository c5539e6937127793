import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { ApiError, type JsonObject, type Schema } from "@konverge/core";
import { applyJsonPatch, type JsonPatchOperation } from "./json-patch.ts";
import { applyMergePatch } from "./merge-patch.ts";
import { applyStrategicMergePatch } from "./strategic-merge.ts";

/** What the Go libraries of the API server answered to generated cases (see test/generated/patch/README.md). */
interface Fixtures {
  strategic: { original: JsonObject; patch: JsonObject; expect: Outcome }[];
  twoWay: { from: JsonObject; to: JsonObject; patch: JsonObject }[];
  merge: { original: JsonObject; patch: JsonObject; expect: Outcome }[];
  json: { original: JsonObject; patch: JsonPatchOperation[]; expect: Outcome }[];
}
type Outcome = { result?: unknown; error?: string };

const fixtures: Fixtures = JSON.parse(
  readFileSync(new URL("../../test/generated/patch/patches.json", import.meta.url), "utf8"),
);

const text: Schema = { type: "string" };
const integer: Schema = { type: "integer", format: "int64" };
const texts: Schema = { type: "array", items: text };
const labels: Schema = { type: "object", additionalProperties: text };
const port: Schema = { type: "object", properties: { port: integer, protocol: text } };
const mode: Schema = { type: "object", properties: { type: text, a: labels, b: port } };
const list = (items: Schema, strategy: string, mergeKey?: string): Schema => ({
  type: "array",
  items,
  go: { patch: { strategy, ...(mergeKey && { mergeKey }) } },
});
const item: Schema = {
  type: "object",
  properties: { name: text, image: text, count: integer, ports: list(port, "merge", "port"), args: texts, labels },
};
const volume: Schema = { type: "object", properties: { name: text, x: port, y: port } };
const thing: Schema = {
  type: "object",
  title: "Thing",
  properties: {
    text,
    number: integer,
    flag: { type: "boolean" },
    labels,
    mode: { ...mode, go: { patch: { strategy: "retainKeys" } } },
    whole: { ...mode, go: { patch: { strategy: "replace" } } },
    items: list(item, "merge", "name"),
    volumes: list(volume, "merge,retainKeys", "name"),
    names: list(text, "merge"),
    atomic: { type: "array", items: item },
    words: texts,
    get nested() {
      return thing;
    },
  },
};

function outcome(work: () => unknown): Outcome {
  try {
    return { result: work() };
  } catch (error) {
    assert.ok(error instanceof ApiError, `${error}`);
    return { error: error.cause instanceof Error ? error.cause.message : error.message };
  }
}

/** Runs one case; its arguments must come out as they went in. */
function check(name: string, args: object, work: () => unknown, expected: Outcome): void {
  const before = JSON.stringify(args);
  const actual = outcome(work);
  assert.equal(JSON.stringify(args), before, `${name} changed its arguments`);
  assert.deepEqual(actual, expected, `${name}: ${before}`);
}

test("strategic merge patches give what apimachinery gives", () => {
  for (const { original, patch, expect } of fixtures.strategic) {
    check("patch", { original, patch }, () => applyStrategicMergePatch(original, patch, thing), expect);
  }
});

test("a patch that apimachinery made of two objects leads from the first to the second", () => {
  for (const { from, to, patch } of fixtures.twoWay) {
    check("patch", { from, patch }, () => applyStrategicMergePatch(from, patch, thing), { result: to });
  }
});

test("merge patches give what the API server's library gives", () => {
  for (const { original, patch, expect } of fixtures.merge) {
    check("patch", { original, patch }, () => applyMergePatch(original, patch), expect);
  }
});

test("JSON patches give what the API server's library gives", () => {
  for (const { original, patch, expect } of fixtures.json) {
    check("patch", { original, patch }, () => applyJsonPatch(original, patch), expect);
  }
});
