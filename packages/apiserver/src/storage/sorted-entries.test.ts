import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Entry } from "./entry.ts";
import { SortedEntries } from "./sorted-entries.ts";

const entry = (key: string, revision = 0): Entry => ({
  key,
  revision,
  text: "{}",
  uid: "",
  labels: undefined,
  fields: undefined,
});
const keys = (entries: SortedEntries, prefix = "", after?: string) =>
  Array.from(entries.scan(prefix, after), ({ key }) => key);

type Step =
  | { do: "set" | "delete"; side: number; key: string }
  | { do: "fork"; side: number }
  | { do: "fill"; side: number; from: number; count: number };

const someKey = fc.tuple(fc.constantFrom("", "a/", "a-b/", "b/"), fc.nat({ max: 400 })).map(([ns, n]) => `${ns}${n}`);
const side = fc.nat({ max: 3 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constantFrom("set", "delete"), side, key: someKey }) as fc.Arbitrary<Step>,
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("fork" as const), side }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("fill" as const),
      side,
      from: fc.nat({ max: 1000 }),
      count: fc.nat({ max: 300 }),
    }),
  },
);

test("behaves as a sorted map, and forks do not see each other's writes", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const sides = [{ real: new SortedEntries(), model: new Map<string, number>() }];
      let revision = 0;
      const set = (at: (typeof sides)[number], key: string) => {
        at.real.set(entry(key, ++revision));
        at.model.set(key, revision);
      };
      for (const each of steps) {
        const at = sides[each.side % sides.length]!;
        if (each.do === "fork") {
          if (sides.length < 4) sides.push({ real: at.real.fork(), model: new Map(at.model) });
        } else if (each.do === "fill") for (let i = 0; i < each.count; i++) set(at, `c/${each.from + i}`);
        else if (each.do === "set") set(at, each.key);
        else {
          at.real.delete(each.key);
          at.model.delete(each.key);
        }
      }
      for (const { real, model } of sides) {
        const sorted = [...model.keys()].sort();
        assert.equal(real.size, model.size);
        assert.deepEqual(keys(real), sorted);
        for (const key of ["a/3", "c/77", ...sorted]) assert.equal(real.get(key)?.revision, model.get(key));
        const after = sorted[sorted.length >> 1] ?? "a/1";
        for (const prefix of ["", "a/", "a-b/", "c/"]) {
          const expected = sorted.filter((key) => key.startsWith(prefix) && key > after);
          assert.deepEqual(keys(real, prefix, after), expected);
        }
        assert.equal(real.rank(after), sorted.filter((key) => key < after).length);
      }
    }),
    { numRuns: 150 },
  );
});

test("a scan shows what was there when it began, whatever is written meanwhile", () => {
  const entries = new SortedEntries();
  for (let i = 100; i < 600; i++) entries.set(entry(`k${i}`, 1));
  const scan = entries.scan("k");
  const keys = [scan.next().value?.key];
  for (let i = 100; i < 600; i += 3) entries.delete(`k${i}`);
  for (let i = 100; i < 600; i++) entries.set(entry(`k${i}x`, 2));
  for (const { key, revision } of scan) {
    assert.equal(revision, 1);
    keys.push(key);
  }
  assert.deepEqual(
    keys,
    Array.from({ length: 500 }, (_, i) => `k${i + 100}`),
  );
});
