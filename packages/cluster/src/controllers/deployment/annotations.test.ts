import assert from "node:assert/strict";
import { test } from "node:test";
import type { ReplicaSet } from "@konverge/kinds";
import { nextRevision, REVISION } from "./annotations.ts";

const set = (revision?: string) =>
  ({ metadata: { name: "a", annotations: revision === undefined ? {} : { [REVISION]: revision } } }) as ReplicaSet;

test("a new revision follows the highest of those there are, however large that is", () => {
  assert.equal(nextRevision([]), 1n);
  assert.equal(nextRevision([set("2"), set(), set("10"), set("what?")]), 11n);
  assert.equal(nextRevision([set("3546343826724305832")]), 3546343826724305833n);
});
