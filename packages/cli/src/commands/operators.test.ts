import assert from "node:assert/strict";
import { test } from "node:test";
import { greetingOperator } from "../../test/greeting-operator.ts";
import { described } from "./operators.ts";

test("an operator is described by its kinds and by what can be set", () => {
  assert.equal(
    described(greetingOperator),
    [
      "greeting-operator: Greets.",
      "  Greeting (greetings.test.example.com, stored as v1)",
      "  --word or $GREETING_WORD: How to greet. Default: Hello",
    ].join("\n"),
  );
});
