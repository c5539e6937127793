import assert from "node:assert/strict";
import { test } from "node:test";
import { expand } from "./environment.ts";

test("references to variables are replaced where there is such a variable", () => {
  const env = { A: "1", B: "$(A)" };
  assert.equal(expand("x $(A) $(B) $(C) $$(A) $$ $( )", env), "x 1 $(A) $(C) $(A) $ $( )");
  assert.equal(expand("$(foo$(A)) $(A", env), "$(foo$(A)) $(A");
});

test("variables that grow exponentially are refused, and unclosed references take linear time", () => {
  const env: Record<string, string> = { V0: "0123456789" };
  assert.throws(() => {
    for (let index = 1; index < 100; index++) env[`V${index}`] = expand(`$(V${index - 1})`.repeat(10), env);
  }, /argument list too long/);
  const open = "$(".repeat(500_000);
  assert.equal(expand(open, env), open);
});
