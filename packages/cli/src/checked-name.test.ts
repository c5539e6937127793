import assert from "node:assert/strict";
import { test } from "node:test";
import { checkedName, isName } from "./checked-name.ts";
import { UsageError } from "./usage-error.ts";

test("names of clusters and operators are labels, and so stay where they are put", () => {
  for (const name of ["a", "konverge", "team-a", "0", "x".repeat(63)]) assert.equal(checkedName(name, "--name"), name);
  const refused = [
    "",
    ".",
    "..",
    "../../evil",
    "/etc/x",
    "a/b",
    "a\\b",
    "C:",
    "a\0",
    "a b",
    "-a",
    "a-",
    "A",
    "a.b",
    "ü",
  ];
  for (const name of [...refused, "x".repeat(64), "con", "nul", "com1", "a\n", "--all"]) {
    assert.equal(isName(name), false, JSON.stringify(name));
    assert.throws(
      () => checkedName(name, "--name"),
      (error: unknown) =>
        error instanceof UsageError &&
        /^--name ".*" cannot be used as a name: use lower case letters/.test(error.message),
    );
  }
});
