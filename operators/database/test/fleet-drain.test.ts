import assert from "node:assert/strict";
import { test } from "node:test";
import { playOnEmbedded } from "@konverge/operator-suite";
import { drainsAll, drainText } from "./fleet-drain.ts";

/** How many databases; a drain under many takes long. */
const COUNT = Number(process.env["KONVERGE_DATABASES"] ?? "4");
/** Seconds that a Database can be without a writer in a drain of the node of its primary. */
const LONGEST = 10;

test("nodes are drained one after the other under several databases, and no commit is lost", async (context) => {
  await playOnEmbedded(async (stage) => {
    const results = await drainsAll(stage, COUNT);
    context.diagnostic(drainText(results));
    for (const { name, gaps } of results) context.diagnostic(`${name}: ${gaps.join(", ")} s without a writer`);
    assert.ok(
      results.every(({ gaps }) => gaps.length > 0),
      "each primary was drained",
    );
    assert.deepEqual(
      results.filter(({ gaps: [longest = 0] }) => longest > LONGEST),
      [],
    );
  });
});
