import assert from "node:assert/strict";
import { test } from "node:test";
import { latestEntries } from "../page/latest-entries.ts";
import type { Entry } from "../src/protocol.ts";

const entry = (id: number, at: number) => ({ id, at }) as Entry;

test("the newest entries come first, in the order of their time and not of their arrival", () => {
  const entries = [entry(1, 10), entry(2, 30), entry(3, 20), entry(4, 30)];
  assert.deepEqual(
    latestEntries(entries, 3).map(({ id }) => id),
    [4, 2, 3],
  );
});
