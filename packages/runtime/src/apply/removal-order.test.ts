import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Doomed, nextToGo, rememberAfter } from "./removal-order.ts";

const doomed = (name: string, after: readonly string[] = [], leaving = false): Doomed => ({
  name,
  object: {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, ...rememberAfter(after), ...(leaving && { deletionTimestamp: "2026-01-01T00:00:00Z" }) },
  },
});

const names = (all: readonly Doomed[]) => nextToGo(all).map(({ doomed: one }) => one.name);

test("what came last goes first, and is awaited if others wait for it", () => {
  const all = [doomed("a"), doomed("b", ["a"]), doomed("c", ["b"]), doomed("alone")];
  assert.deepEqual(
    nextToGo(all).map(({ doomed: one, awaited }) => [one.name, awaited]),
    [
      ["c", true],
      ["alone", false],
    ],
  );
});

test("what is still on its way out holds those it came after", () => {
  assert.deepEqual(names([doomed("a"), doomed("b", ["a"], true)]), []);
});

test("children that stay block nothing", () => {
  assert.deepEqual(names([doomed("b", ["a"])]), ["b"]);
});

test("whatever clients write into the annotations, all children are deleted in the end, none before those that came after it", () => {
  const letters = ["a", "b", "c", "d", "e"];
  const edges = fc.array(fc.tuple(fc.constantFrom(...letters), fc.constantFrom(...letters)), { maxLength: 10 });
  fc.assert(
    fc.property(edges, fc.boolean(), (pairs, circles) => {
      const after = (name: string) => pairs.filter(([one, other]) => one === name && (circles || other < name));
      let left = letters.map((name) => doomed(name, [...new Set(after(name).map(([, other]) => other))]));
      while (left.length > 0) {
        const gone = new Set(names(left));
        assert.ok(gone.size > 0, "nobody goes any more");
        left = left.filter(({ name }) => !gone.has(name));
        if (circles) continue;
        for (const { name } of left) for (const [, other] of after(name)) assert.ok(!gone.has(other));
      }
    }),
  );
});
