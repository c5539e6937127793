import assert from "node:assert/strict";
import { test } from "node:test";
import { CommandError, run, succeeds } from "./run.ts";

const skip = process.platform !== "linux" && "real nodes need Linux";

test("a command returns what it printed, or fails with its message and exit code", { skip }, async () => {
  assert.equal(await run("sh", "-c", "echo done; echo warning >&2"), "done\n");
  const failure = (error: unknown) =>
    error instanceof CommandError && error.exitCode === 4 && error.message === "sh -c echo locked >&2; exit 4: locked";
  await assert.rejects(run("sh", "-c", "echo locked >&2; exit 4"), failure);
  await assert.rejects(run("no-such-command", "--at-all"), /^CommandError: no-such-command --at-all: .*ENOENT/);
});

test("a command that was killed has neither succeeded nor failed", { skip }, async () => {
  assert.equal(await succeeds("true"), true);
  assert.equal(await succeeds("false"), false);
  await assert.rejects(succeeds("sh", "-c", "kill -INT $$"), /killed by SIGINT/);
  await assert.rejects(succeeds("no-such-command"), /ENOENT/);
});

test("signals of the terminal do not reach commands: they are in another session", { skip }, async () => {
  // The fields after the name: state, parent, process group, session.
  const fields = (await run("cat", "/proc/self/stat")).replace(/^.*\) /, "").split(" ");
  const [, parent, group, session] = fields;
  assert.equal(parent, String(process.pid));
  assert.equal(group, session);
  assert.notEqual(group, String(process.pid));
});
