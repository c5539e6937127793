import assert from "node:assert/strict";
import { test } from "node:test";
import { assertNoFindings, explore } from "@konverge/dev";
import { postgresStory } from "../test/postgresql-story.ts";

test("the whole story survives every single fault, those of calls to the server included", async () => {
  const exploration = await explore(postgresStory);
  assertNoFindings(exploration);
  assert.ok((exploration.tried.external ?? 0) >= 20, JSON.stringify(exploration.tried));
  assert.equal(exploration.stopped, undefined);
});
