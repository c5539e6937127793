import assert from "node:assert/strict";
import { test } from "node:test";
import { directWriteProblems, directWrites, directWritesText } from "./direct-writes.ts";

const found = (sources: Record<string, string>) => directWrites(new Map(Object.entries(sources)));

test("a write of an operator or of a built-in controller needs a reason above it, reads and tests do not", () => {
  const writes = found({
    "operators/web/src/a.ts":
      "await client.get(Pod, key);\nawait context.client.patch(Pod, key, patch);\nawait client\n  .delete(Pod, key)",
    "operators/web/src/a.test.ts": "await client.patch(Pod, key, patch);",
    "packages/cluster/src/controllers/b.ts": "await this.#client.delete(Pod, key);",
    "packages/runtime/src/c.ts": "await client.create(Pod, pod);",
  });
  assert.deepEqual(
    directWriteProblems(writes).map((problem) => problem.split(" ")[0]),
    ["operators/web/src/a.ts:2,4", "packages/cluster/src/controllers/b.ts:1"],
  );
});

test("a reason holds for the rest of its file, and is listed in full", () => {
  const writes = found({
    "operators/web/src/a.ts": [
      "// Direct writes: another controller makes these pods,",
      "// and only a label is ours.",
      "await client.patch(Pod, one, patch);",
      "await client.patch(Pod, other, patch);",
    ].join("\n"),
  });
  assert.deepEqual(directWriteProblems(writes), []);
  assert.equal(
    directWritesText(writes),
    "direct writes: 2 in operators, 0 in built-in controllers\n" +
      "  operators/web/src/a.ts:3,4 another controller makes these pods, and only a label is ours.",
  );
});
