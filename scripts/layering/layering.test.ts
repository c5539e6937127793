import assert from "node:assert/strict";
import { test } from "node:test";
import { cycleProblems } from "./cycles.ts";
import { frontDoorProblems } from "./front-doors.ts";
import { importsIn } from "./imports.ts";
import { packageProblems } from "./packages.ts";

const imports = (sources: Record<string, string>) => importsIn(new Map(Object.entries(sources)));

test("values, types, re-exports and lazy imports are found with their lines; comments, strings and packages are distinguished", () => {
  const found = imports({
    "packages/core/src/a.ts": [
      "// see import rules",
      'import { b } from "./b.ts";',
      "import type {",
      "  C,",
      '} from "./c.ts";',
      'export * from "./b.ts";',
      'const lazy = () => import("./c.ts");',
      'const text = `from "./b.ts"`;',
      'import "node:fs";',
    ].join("\n"),
    "packages/core/src/b.ts": "",
    "packages/core/src/c.ts": "",
  });
  assert.deepEqual(
    found.map(({ line, specifier, to }) => [line, specifier, to]),
    [
      [2, "./b.ts", "packages/core/src/b.ts"],
      [5, "./c.ts", "packages/core/src/c.ts"],
      [6, "./b.ts", "packages/core/src/b.ts"],
      [7, "./c.ts", "packages/core/src/c.ts"],
      [9, "node:fs", undefined],
    ],
  );
});

test("a cycle between files is reported with the line of each import, also if it is of types", () => {
  const problems = cycleProblems(
    imports({
      "tools/x/a.ts": '\nimport { b } from "./b.ts";',
      "tools/x/b.ts": 'import { c } from "./c.ts";',
      "tools/x/c.ts": 'import type { A } from "./a.ts";',
      "tools/x/d.ts": 'import { a } from "./a.ts";',
    }),
  );
  assert.deepEqual(problems, [
    [
      "import cycle:",
      "  tools/x/a.ts:2 imports tools/x/b.ts",
      "  tools/x/b.ts:1 imports tools/x/c.ts",
      "  tools/x/c.ts:1 imports tools/x/a.ts",
    ].join("\n"),
  ]);
});

test("folders that import each other are reported, also where no files do", () => {
  const problems = cycleProblems(
    imports({
      "packages/core/src/cache/cache.ts": 'import { s } from "../apply/schema.ts";',
      "packages/core/src/apply/apply.ts": 'import { c } from "../cache/cache.ts";',
      "packages/core/src/apply/schema.ts": "",
    }),
  );
  assert.deepEqual(problems, [
    [
      "packages/core/src: apply → cache → apply:",
      "  packages/core/src/apply/apply.ts:1 imports packages/core/src/cache/cache.ts",
      "  packages/core/src/cache/cache.ts:1 imports packages/core/src/apply/schema.ts",
    ].join("\n"),
  ]);
});

test("tests may import against the direction of folders, but not in a cycle", () => {
  const against = {
    "packages/core/src/cache/cache.test.ts": 'import { a } from "../apply/apply.ts";',
    "packages/core/src/cache/cache.ts": "",
    "packages/core/src/apply/apply.ts": 'import { c } from "../cache/cache.ts";',
  };
  assert.deepEqual(cycleProblems(imports(against)), []);
  const helpers = {
    "packages/core/test/a.ts": 'import "./b.ts";',
    "packages/core/test/b.ts": 'import "./a.ts";',
  };
  assert.equal(cycleProblems(imports(helpers)).length, 1);
});

test("packages import along the arrows, by name, and no test code", () => {
  const problems = packageProblems(
    imports({
      "packages/core/src/a.ts": 'import { x } from "@konverge/schema";',
      "packages/schema/src/b.ts": 'import { x } from "@konverge/core";\nimport { h } from "../test/h.ts";',
      "packages/schema/src/c.ts": 'import { x } from "../../core/src/a.ts";',
      "packages/schema/test/h.ts": "",
      "operators/x/src/d.ts": 'import { x } from "@konverge/runtime";',
    }),
  );
  assert.deepEqual(problems, [
    "packages/core/src/a.ts:1 imports @konverge/schema: core may import nothing",
    "packages/schema/src/b.ts:2 imports ../test/h.ts: only tests import what is in test folders",
    "packages/schema/src/c.ts:1 imports ../../core/src/a.ts: use the name of the package",
    "operators/x/src/d.ts:1 imports @konverge/runtime: operators import konverge alone",
  ]);
});

test("folders have no index.ts, and a package does not import its own front door", () => {
  const sources = {
    "packages/core/src/index.ts": 'export * from "./a/a.ts";',
    "packages/core/src/a/index.ts": "",
    "packages/core/src/a/a.ts": "",
    "packages/core/src/b.ts": 'import { a } from "./index.ts";',
    "packages/core/src/b.test.ts": 'import { a } from "./index.ts";',
  };
  const doors = new Set(["packages/core/src/index.ts"]);
  assert.deepEqual(frontDoorProblems(Object.keys(sources), imports(sources), doors), [
    "packages/core/src/a/index.ts: folders have no index.ts: import their files directly",
    "packages/core/src/b.ts:1 imports packages/core/src/index.ts: that is for other packages: import the file itself",
  ]);
});
