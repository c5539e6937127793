import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { Command } from "commander";
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

/** All commands that do something, with the words that they are called by. */
function commands(command: Command, path = command.name()): { path: string; command: Command }[] {
  if (command.commands.length === 0) return [{ path, command }];
  return command.commands.flatMap((one) => commands(one, `${path} ${one.name()}`));
}

function help(command: Command): string {
  const parts: string[] = [];
  command.configureOutput({ writeOut: (part) => void parts.push(part) }).outputHelp();
  return parts.join("");
}

test("the help of every command has an example of it", () => {
  for (const { path, command } of commands(program())) {
    if (path === "konverge envtest-apiserver") continue;
    const [, examples = ""] = help(command).split(/^(?:For example.*?:|Examples:)/m);
    assert.match(examples, new RegExp(`\\b${path}\\b`), path);
  }
});

test("an error in what was typed is followed by where to read on, and not by the whole help", async () => {
  for (const [words, expected] of [
    [["dance"], "error: unknown command 'dance'\nSee: konverge --help\n"],
    [["create", "api", "--kind"], "error: option '--kind <kind>' argument missing\nSee: konverge create api --help\n"],
    [["up", "--nodes", "many"], "See: konverge up --help\n"],
  ] as const) {
    const parts: string[] = [];
    const all = program();
    for (const one of [all, ...everyCommand(all)]) {
      one.exitOverride().configureOutput({ writeErr: (part) => void parts.push(part) });
    }
    await assert.rejects(all.parseAsync(words, { from: "user" }), { exitCode: 1 });
    assert.ok(parts.join("").endsWith(expected), parts.join(""));
  }
});

const everyCommand = (command: Command): Command[] => command.commands.flatMap((one) => [one, ...everyCommand(one)]);

test("every command and every option says what it is for", () => {
  for (const command of program().commands) {
    if (command.name() === "envtest-apiserver") continue;
    assert.notEqual(command.description(), "", command.name());
    for (const { description, flags } of command.options) assert.ok(description, `${command.name()} ${flags}`);
  }
});
