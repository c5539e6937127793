import assert from "node:assert/strict";
import { test } from "node:test";
import { deepEqual } from "@konverge/core";
import fc from "fast-check";
import { SCALARS } from "../../test/yaml-samples.ts";
import { parseYaml } from "./parse-yaml.ts";
import { printYaml } from "./print-yaml.ts";
import { YamlError } from "./yaml-error.ts";
import { yamlPlace } from "./yaml-place.ts";

for (const [text, value] of Object.entries(SCALARS)) {
  test(`a: ${text} is what kubectl takes it for`, () => assert.deepEqual(parseYaml(`a: ${text}\n`), [{ a: value }]));
}

test("keys are turned into text as values are read", () => {
  assert.deepEqual(parseYaml("yes: 1\n1: 2\n1.5: 3\n'x': 4\n"), [{ true: 1, "1": 2, "1.5": 3, x: 4 }]);
});

test("documents are separated, empty ones are left out", () => {
  assert.deepEqual(parseYaml("---\n# nothing\n---\na: 1\n---\nb: 2\n...\n"), [{ a: 1 }, { b: 2 }]);
  assert.deepEqual(parseYaml(""), []);
});

test("anchors, aliases and merge keys are resolved", () => {
  assert.deepEqual(parseYaml("a: &x {b: 1, c: 1}\nd: *x\ne:\n  <<: *x\n  c: 2\n"), [
    { a: { b: 1, c: 1 }, d: { b: 1, c: 1 }, e: { b: 1, c: 2 } },
  ]);
});

test("a block at the end of a file without a line break has none either", () => {
  assert.deepEqual(parseYaml("a: |\n  x"), [{ a: "x" }]);
  assert.deepEqual(parseYaml("a: |\n  x\n"), [{ a: "x\n" }]);
});

test("the last of two equal keys counts, unless asked to be strict", () => {
  assert.deepEqual(parseYaml("a: 1\na: 2\n"), [{ a: 2 }]);
  assert.throws(
    () => parseYaml("b: 1\na: 1\na: 2\n", { strict: true }),
    /^YamlError: yaml: line 3: key "a" already set in map$/,
  );
});

test("errors name the line in the file, whatever document it is in", () => {
  const broken: [string, number][] = [
    ["a: 1\n b: 2\n", 2],
    ["a: 1\n---\nb:\n\tc: 1\n", 4],
    ["a: *nobody\n", 1],
    ["a:\n  b: .inf\n", 2],
    ["~: 1\n", 1],
    ["a: 1\nb: \u0001\n", 2],
    ["a: [1, 2\n", 1],
  ];
  for (const [text, line] of broken) {
    assert.throws(
      () => parseYaml(text),
      (error) => error instanceof YamlError && Math.abs(error.line - line) <= (text.includes("[") ? 1 : 0),
      text,
    );
  }
});

test("aliases of aliases do not grow without bound", () => {
  const levels = Array.from(
    { length: 12 },
    (_, i) =>
      `l${i}: &l${i} [${Array(10)
        .fill(i === 0 ? "x" : `*l${i - 1}`)
        .join(", ")}]`,
  );
  assert.throws(() => parseYaml(`${levels.join("\n")}\n`), /excessive aliasing/);
});

test("objects are printed as kubectl prints them", () => {
  const object = {
    kind: "ConfigMap",
    apiVersion: "v1",
    metadata: { name: "x", labels: {}, finalizers: ["a", "b"] },
    data: {
      enabled: "yes",
      script: "#!/bin/sh\necho hi\n",
      empty: "",
      port: "80",
      colon: "a: b",
      list: [{ b: 1, a: [1] }],
    },
  };
  assert.equal(
    printYaml(object, { a: 1 }),
    `apiVersion: v1
data:
  colon: 'a: b'
  empty: ""
  enabled: "yes"
  list:
  - a:
    - 1
    b: 1
  port: "80"
  script: |
    #!/bin/sh
    echo hi
kind: ConfigMap
metadata:
  finalizers:
  - a
  - b
  labels: {}
  name: x
---
a: 1
`,
  );
});

/** Text in which whatever means something to YAML is frequent. */
const text = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({
    unit: fc.constantFrom("a", " ", "\n", ":", "#", "-", "'", '"', "1", "\t", ",", "?", "\\", "é", "😀"),
    maxLength: 9,
  }),
  fc.constantFrom("yes", "0777", "1e3", "2020-01-01", "null", "word ".repeat(30)),
);
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    text,
    fc.integer(),
    // Whole numbers beyond 2^53 are written with the digits that identify them and read as the exact integer of those.
    fc
      .double({ noNaN: true, noDefaultInfinity: true })
      .filter((number) => !Number.isInteger(number) || Number.isSafeInteger(number))
      .map((number) => number + 0),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(
      text.filter((key) => key !== "<<"),
      tie("value"),
      { maxKeys: 4, noNullPrototype: true },
    ),
  ),
})).value;

test("whatever is printed is read back the same", () => {
  fc.assert(
    fc.property(json, (value) => {
      const [back] = parseYaml(printYaml({ value }));
      assert.ok(deepEqual(back, { value }), printYaml({ value }));
    }),
    { numRuns: 200 },
  );
});

test("a document that is nested too deep is refused, however it is nested", () => {
  const deep = 100_000;
  const texts = [
    "[".repeat(deep),
    "{a: ".repeat(deep),
    "- ".repeat(deep),
    "? ".repeat(deep),
    Array.from({ length: 2000 }, (_, i) => `${" ".repeat(i)}a:\n`).join(""),
    // Each list is deep enough, and each alias goes as deep again.
    Array.from(
      { length: 9 },
      (_, i) => `a${i}: &a${i} ${"[".repeat(300)}${i > 0 ? `*a${i - 1}` : ""}${"]".repeat(300)}\n`,
    ).join(""),
    // A list at the column of its key.
    Array.from({ length: 1000 }, (_, i) => `${"  ".repeat(i)}a:\n${"  ".repeat(i)}- b:\n`).join(""),
  ];
  for (const text of texts) assert.throws(() => parseYaml(text), /exceeded max depth of 500/, text.slice(0, 20));
});

test("an alias within what it stands for is refused", () => {
  assert.throws(() => parseYaml("a: &a [*a]"), /^YamlError: yaml: anchor 'a' value contains itself$/);
});

test("the place of a value is found by its path, or as far as the path goes", () => {
  const text = "# a story\nsteps:\n- apply: a\n- wait:\n    for: b\nmore: {deep: [1, 2]}\n";
  assert.deepEqual(yamlPlace(text, ["steps", 1, "wait", "for"]), { line: 5, column: 10 });
  assert.deepEqual(yamlPlace(text, ["more", "deep", 1]), { line: 6, column: 18 });
  assert.deepEqual(yamlPlace(text, ["steps", 0, "apply", "none"]), { line: 3, column: 10 });
  assert.deepEqual(yamlPlace("", ["a"]), { line: 1, column: 1 });
});
