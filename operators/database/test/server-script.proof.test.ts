import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { script } from "@konverge/database-operator";
import { MachineRoom } from "./postgres.ts";
import { findPostgres, type PostgresTools } from "./postgres-tools.ts";
import { confirms, handsOver, isCareful, rewinds, rotates, type StoryOptions } from "./replication-stories.ts";
import { codeLines, type Unnoticed, without } from "./script-mutations.ts";

const STORIES = [handsOver, rewinds, confirms, rotates, isCareful];
/** Milliseconds. What works takes a second or two; what does not is waited for as long. */
const PATIENCE = 15_000;

const UNNOTICED: Readonly<Record<string, readonly Unnoticed[]>> = {
  "server.sh": [],
  "status.sh": [],
  "alive.sh": [],
};

/** Plays all stories with a script at the same time; ends with the first that fails. */
async function isMissed(tools: PostgresTools, name: string, text: string): Promise<boolean> {
  if (spawnSync("sh", ["-n"], { input: text }).status !== 0) return true;
  const options: StoryOptions = { scripts: { [name]: text }, patience: PATIENCE };
  const rooms = STORIES.map(() => new MachineRoom(tools));
  try {
    await Promise.all(STORIES.map((story, index) => story(rooms[index]!, options)));
    return false;
  } catch {
    return true;
  } finally {
    for (const room of rooms) await room[Symbol.asyncDispose]();
  }
}

const tools = findPostgres();
for (const [name, unnoticed] of Object.entries(UNNOTICED)) {
  test(`every line of ${name} is needed`, { skip: "why" in tools ? tools.why : false }, async () => {
    assert.ok("bin" in tools);
    const unmissed: string[] = [];
    for (const { at, text } of codeLines(name)) {
      if (unnoticed.some(({ line }) => text.startsWith(line))) continue;
      if (!(await isMissed(tools, name, without(name, at)(name, script(name)))))
        unmissed.push(`${name}:${at + 1}: ${text}`);
    }
    for (const { line } of unnoticed)
      assert.ok(
        codeLines(name).some(({ text }) => text.startsWith(line)),
        line,
      );
    assert.deepEqual(unmissed, []);
  });
}
