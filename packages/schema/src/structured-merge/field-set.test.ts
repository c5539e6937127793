import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { decodeFieldSet } from "./decode-fields.ts";
import type { FieldSet } from "./field-set.ts";
import * as fieldSet from "./field-set.ts";
import type { FieldPath } from "./path-element.ts";
import { pathText } from "./path-element.ts";

const element = fc.constantFrom("f:a", "f:b", "f:c", 'k:{"name":"x"}', 'k:{"name":"y"}', 'v:"x"', "v:1", "i:0");
const path: fc.Arbitrary<FieldPath> = fc.array(element, { minLength: 1, maxLength: 4 });
const paths = fc.array(path, { maxLength: 12 });

/** The same set, naively: paths as text. */
const naive = (set: FieldSet) => new Set(fieldSet.paths(set).map((it) => JSON.stringify(it)));
const naiveOf = (list: readonly FieldPath[]) => new Set(list.map((it) => JSON.stringify(it)));
const sorted = (set: Set<string>) => [...set].sort();

const startsWith = (it: string, prefix: string) => it.startsWith(`${prefix.slice(0, -1)},`);

/** Runs a law over two sets. `keeps` says which paths of the first, and `adds` which of the second, the result has. */
function law(
  operation: (a: FieldSet, b: FieldSet) => FieldSet,
  expected: (a: Set<string>, b: Set<string>) => Set<string>,
): void {
  fc.assert(
    fc.property(paths, paths, (left, right) => {
      const [a, b] = [fieldSet.fromPaths(...left), fieldSet.fromPaths(...right)];
      const before = JSON.stringify([a, b]);
      assert.deepEqual(sorted(naive(operation(a, b))), sorted(expected(naiveOf(left), naiveOf(right))));
      assert.equal(JSON.stringify([a, b]), before);
    }),
  );
}

test("a set has the paths it was made of, and no others", () => {
  fc.assert(
    fc.property(paths, path, (list, other) => {
      const set = fieldSet.fromPaths(...list);
      assert.deepEqual(sorted(naive(set)), sorted(naiveOf(list)));
      assert.equal(fieldSet.has(set, other), naiveOf(list).has(JSON.stringify(other)));
      assert.equal(fieldSet.isEmpty(set), list.length === 0);
    }),
  );
});

test("union, intersection and difference are those of sets of paths", () => {
  law(fieldSet.union, (a, b) => a.union(b));
  law(fieldSet.intersection, (a, b) => a.intersection(b));
  law(fieldSet.difference, (a, b) => a.difference(b));
});

test("a recursive difference also takes what lies below", () => {
  law(
    fieldSet.recursiveDifference,
    (a, b) => new Set([...a].filter((it) => ![...b].some((other) => other === it || startsWith(it, other)))),
  );
});

test("operations that change nothing return the very same set", () => {
  const set = fieldSet.fromPaths(["f:a", "f:b"], ["f:a"], ["f:c"]);
  const other = fieldSet.fromPaths(["f:b"], ["f:a", "f:c"]);
  assert.equal(fieldSet.union(set, fieldSet.fromPaths(["f:a", "f:b"])), set);
  assert.equal(fieldSet.difference(set, other), set);
  assert.equal(fieldSet.recursiveDifference(set, other), set);
  assert.equal(fieldSet.sorted(set), set);
});

test("sets are equal whatever order they were made in", () => {
  fc.assert(
    fc.property(
      paths.chain((list) => fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length }))),
      ([list, shuffled]) => {
        const [a, b] = [fieldSet.fromPaths(...list), fieldSet.fromPaths(...shuffled)];
        assert.ok(fieldSet.equals(a, b));
        assert.equal(JSON.stringify(fieldSet.sorted(a)), JSON.stringify(fieldSet.sorted(b)));
      },
    ),
  );
});

test("what is written can be read back", () => {
  fc.assert(
    fc.property(paths, (list) => {
      const set = fieldSet.sorted(fieldSet.fromPaths(...list));
      const read = decodeFieldSet(JSON.parse(JSON.stringify(set)));
      assert.deepEqual(read, set);
      assert.equal(decodeFieldSet(read), read);
    }),
  );
});

test("elements are written in the API server's order", () => {
  const set = decodeFieldSet({
    "i:10": {},
    "i:9": {},
    'v:"b"': {},
    "v:true": {},
    "v:10": {},
    "v:9": {},
    'k:{"port":80,"protocol":"UDP"}': {},
    'k:{"port":80,"protocol":"TCP"}': {},
    'k:{"port":9}': {},
    'k:{"name":"z"}': {},
    "f:b": {},
    "f:a": { "f:z": {}, ".": {} },
    "f:A": {},
  });
  assert.equal(
    JSON.stringify(fieldSet.sorted(set)),
    JSON.stringify({
      "f:A": {},
      "f:a": { ".": {}, "f:z": {} },
      "f:b": {},
      'k:{"name":"z"}': {},
      'k:{"port":9}': {},
      'k:{"port":80,"protocol":"TCP"}': {},
      'k:{"port":80,"protocol":"UDP"}': {},
      "v:9": {},
      "v:10": {},
      'v:"b"': {},
      "v:true": {},
      "i:9": {},
      "i:10": {},
    }),
  );
});

test("elements that another client wrote are converted to canonical form", () => {
  assert.deepEqual(
    decodeFieldSet({
      ".": {},
      'k:{ "b": 1, "a": "x<y" }': { ".": {} },
      "i:007": {},
      "x:future": { "f:a": {} },
      "f:only": { "x:future": {} },
      "f:null": null,
    }),
    { 'k:{"a":"x\\u003cy","b":1}': {}, "i:7": {}, "f:only": {}, "f:null": {} },
  );
});

test("what is no field set is refused", () => {
  for (const fields of [[], "x", { a: {} }, { "f:a": 1 }, { "k:x": {} }, { "v:": {} }, { "i:x": {} }, { fa: {} }]) {
    assert.throws(() => decodeFieldSet(fields), JSON.stringify(fields));
  }
});

test("paths are shown as in the API server's messages", () => {
  assert.equal(
    pathText(["f:spec", "f:containers", 'k:{"name":"we\\"b"}', "f:ports", 'k:{"containerPort":80,"protocol":"TCP"}']),
    '.spec.containers[name="we\\"b"].ports[containerPort=80,protocol="TCP"]',
  );
  assert.equal(pathText(["f:finalizers", 'v:"a/b"']), '.finalizers[="a/b"]');
  assert.equal(pathText(["f:big", "v:1000000", "i:3"]), ".big[=1e+06][3]");
});
