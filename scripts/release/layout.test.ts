import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { destinationOf, entriesOf, manifestIn, NODE_MINIMUM, type PublishedPackage, published } from "./layout.ts";

const [konverge, dev, operators] = published as [PublishedPackage, PublishedPackage, PublishedPackage];

test("an import of a folder in the same package leads to its source", () => {
  assert.deepEqual(destinationOf("@konverge/core", konverge), { inside: "packages/core/src/index.ts" });
  assert.deepEqual(destinationOf("@konverge/schema/cel", konverge), { inside: "packages/schema/src/cel.ts" });
  assert.deepEqual(destinationOf("@konverge/llm-operator", operators), { inside: "operators/llm/src/index.ts" });
});

test("an import of a folder in another package becomes an internal subpath of that package", () => {
  assert.deepEqual(destinationOf("@konverge/core", dev), { outside: "konverge/internal/core" });
  assert.deepEqual(destinationOf("@konverge/schema/cel", dev), { outside: "konverge/internal/schema/cel" });
  assert.deepEqual(destinationOf("@konverge/cluster", konverge), { outside: "@konverge/dev/internal/cluster" });
});

test("an import of a published package is what it was", () => {
  assert.deepEqual(destinationOf("konverge/kinds", operators), { outside: "konverge/kinds" });
  assert.deepEqual(destinationOf("@konverge/operators", konverge), { outside: "@konverge/operators" });
});

test("what is not of this workspace, or not published, is not ours to move", () => {
  assert.equal(destinationOf("zod", konverge), undefined);
  assert.equal(destinationOf("node:fs", konverge), undefined);
  assert.equal(destinationOf("@konverge/real", konverge), undefined);
});

test("an import of what a folder does not export is an error", () => {
  assert.throws(() => destinationOf("@konverge/core/clock", konverge), /does not export \.\/clock/);
});

test("a package has its entry points and, below internal, the folders it is made from", () => {
  const entries = entriesOf(konverge);
  assert.equal(entries.get(""), "packages/konverge/src/index.ts");
  assert.equal(entries.get("/schema"), "packages/konverge/src/schema.ts");
  assert.equal(entries.get("/kinds/events.v1"), "packages/konverge/src/generated/kinds/events.v1.ts");
  assert.equal(entries.get("/core"), undefined);
  assert.equal(entries.get("/internal/core"), "packages/core/src/index.ts");
  assert.equal(entries.get("/internal/schema/cel"), "packages/schema/src/cel.ts");
  assert.equal(entries.get("/internal/kinds/apps.v1"), "packages/kinds/src/generated/apps.v1.ts");
});

test("the oldest Node that works is one number everywhere", () => {
  const folders = [...published.map(({ folder }) => folder), "packages/cli"];
  assert.deepEqual(
    folders.map((folder) => manifestIn(folder).engines?.node),
    folders.map(() => `>=${NODE_MINIMUM}`),
  );
  const { devDependencies } = JSON.parse(readFileSync("package.json", "utf8")) as { devDependencies: { node: string } };
  assert.equal(devDependencies.node.split(".")[0], String(NODE_MINIMUM));
  assert.match(
    readFileSync("docs/reference/versions.md", "utf8"),
    new RegExp(`^\\| Node, to run \\| ${NODE_MINIMUM} `, "m"),
  );
  for (const { folder } of published)
    assert.match(readFileSync(`${folder}/README.md`, "utf8"), new RegExp(`needs Node ${NODE_MINIMUM} or newer`));
});
