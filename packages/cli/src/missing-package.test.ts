import assert from "node:assert/strict";
import { test } from "node:test";
import { explained, isMissing } from "./missing-package.ts";
import { UsageError } from "./usage-error.ts";

const failure = (message: string) => Object.assign(new Error(message), { code: "ERR_MODULE_NOT_FOUND" });

test("a package that is not installed is named, with what to do", () => {
  const error = explained(failure("Cannot find package '@konverge/dev' imported from /app/main.js"));
  assert.ok(error instanceof UsageError);
  assert.match(error.message, /npm install --save-dev @konverge\/dev/);
});

test("what is missing inside a package is not blamed on the package", () => {
  const error = failure("Cannot find package 'zod' imported from /app/node_modules/@konverge/operators/dist/index.js");
  assert.equal(isMissing(error, "@konverge/operators"), false);
  assert.equal(explained(error), error);
});

test("what Node itself says about a package that is not there is understood", async () => {
  const name = "@konverge/no-such-package";
  const error = await import(name).catch((thrown: unknown) => thrown);
  assert.equal(isMissing(error, name), true);
});
