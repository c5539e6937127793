import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { konverge } from "./program.ts";
import { reference } from "./reference.ts";

const program = () =>
  konverge((error) => {
    throw error;
  });

test("the reference matches the help of the command", () => {
  const page = readFileSync(new URL("../../../docs/reference/cli.md", import.meta.url), "utf8");
  const advice = "docs/reference/cli.md is out of date: node packages/cli/src/write-reference.ts";
  assert.equal(page, reference(program()), advice);
});

test("every command and every option says what it is for", () => {
  for (const command of program().commands) {
    if (command.name() === "envtest-apiserver") continue;
    assert.notEqual(command.description(), "", command.name());
    for (const { description, flags } of command.options) assert.ok(description, `${command.name()} ${flags}`);
  }
});
