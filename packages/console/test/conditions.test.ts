import assert from "node:assert/strict";
import { test } from "node:test";
import { byMessage } from "../page/conditions.ts";

test("conditions with the same message are shown together, what is bad first", () => {
  const message = "the disk is full";
  const groups = byMessage([
    { type: "Progressing", status: "True", message },
    { type: "Ready", status: "False", message },
    { type: "Accepted", status: "True" },
    { type: "Stalled", status: "False" },
    { type: "Degraded", status: "True", message },
  ]);
  assert.deepEqual(
    groups.map((group) => group.map(({ type }) => type)),
    [["Ready", "Degraded", "Progressing"], ["Accepted"], ["Stalled"]],
  );
});
