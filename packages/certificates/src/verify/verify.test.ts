import assert from "node:assert/strict";
import { test } from "node:test";
import { recordedAnswers } from "../../test/recorded-answers.ts";
import { ourAnswer } from "../../test/verify-case.ts";

const cases = recordedAnswers();

test("the recorded cases are many, and as many kinds of answers", () => {
  assert.ok(cases.length > 300, String(cases.length));
  assert.ok(cases.filter(({ answer }) => answer === "").length > 100);
  assert.ok(new Set(cases.map(({ answer }) => answer)).size > 150);
});

test("certificates are trusted or refused as Go does it, in its words", () => {
  const byTitle = (answer: (one: (typeof cases)[number]) => string) =>
    Object.fromEntries(cases.map((one) => [one.title, answer(one)]));
  assert.deepEqual(
    byTitle(ourAnswer),
    byTitle(({ answer }) => answer),
  );
});
