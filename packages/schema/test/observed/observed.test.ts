import assert from "node:assert/strict";
import { test } from "node:test";
import { allCases, answer } from "./cases.ts";
import { readRecording } from "./recording.ts";

const recording = readRecording();

test("every case has been put to a real API server", () => {
  assert.deepEqual(
    allCases()
      .map(({ name }) => name)
      .sort(),
    Object.keys(recording).sort(),
  );
});

for (const aCase of allCases()) {
  test(`${aCase.name} is answered as by kube-apiserver`, () => {
    assert.deepEqual(answer(aCase), recording[aCase.name]);
  });
}
