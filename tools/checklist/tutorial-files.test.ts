import assert from "node:assert/strict";
import { test } from "node:test";
import { outdatedTutorialFiles } from "./tutorial-files.ts";

test("the tutorial's manifests follow from the definitions (if not: node tools/checklist/write-tutorial.ts)", () => {
  assert.deepEqual(outdatedTutorialFiles(), []);
});
