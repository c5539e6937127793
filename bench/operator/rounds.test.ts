import assert from "node:assert/strict";
import { test } from "node:test";
import { Rounds } from "./rounds.ts";

test("an operator that fails has no figures of these rounds and keeps those of others, with the reason", async () => {
  const rounds = new Rounds(2);
  rounds.add(
    { name: "kopf", version: "", caches: true, program: () => ({ command: [], env: {} }) },
    { command: [], env: {} },
  );
  await rounds.measure(
    () => true,
    async (_, { figure }) => figure("cold: s", 1),
  );
  let calls = 0;
  await rounds.measure(
    () => true,
    async (_, { figure }) => {
      figure("cache: ready s", 1);
      if (++calls === 2) throw new Error("too slow");
    },
  );
  assert.deepEqual([...rounds.samples.get("kopf")!], [["cold: s", [1, 1]]]);
  assert.deepEqual([...rounds.missing], [["kopf", "failed: too slow"]]);
  assert.equal(rounds.failed, true);
});
