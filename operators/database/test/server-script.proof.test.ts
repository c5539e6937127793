import assert from "node:assert/strict";
import { test } from "node:test";
import { script } from "@konverge/database-operator";
import { MachineRoom } from "./postgres.ts";
import { findPostgres, type PostgresTools } from "./postgres-tools.ts";
import { confirms, handsOver, isCareful, rewinds, rotates, type StoryOptions } from "./replication-stories.ts";
import { type Unnoticed, unmissedLines } from "./script-mutations.ts";

const STORIES = [handsOver, rewinds, confirms, rotates, isCareful];
/** Milliseconds. What works takes a second or two; what does not is waited for as long. */
const PATIENCE = 15_000;

const UNNOTICED: Readonly<Record<string, readonly Unnoticed[]>> = {
  "server.sh": [
    { line: "set -u", why: "no variable is missing here" },
    { line: "say ", why: "it only tells" },
    { line: "state joining", why: "it only tells; what comes next replaces it within a second" },
    { line: "export PGCONNECT_TIMEOUT=5", why: "on one machine every address answers at once" },
    { line: '[ "$(cat "$VOLUME/$1" 2> /dev/null)" = "$term" ] && return', why: "it only saves writing what is there" },
    { line: 'sync "$VOLUME/$1.new"', why: "there is no power cut here" },
    {
      line: '[ "$wanted" = "$(cat "$RUN/passwords" 2> /dev/null)" ] && return',
      why: "it only saves setting what is set",
    },
    { line: 'echo "$wanted" > "$RUN/passwords"', why: "it only saves setting what is set" },
    { line: 'rm -f "$RUN/passwords"', why: "for a password that was changed and changed back while another led" },
    { line: "wait $!", why: "without it the script asks again at once, which only costs" },
  ],
  "status.sh": [{ line: "set -u", why: "no variable is missing here" }],
  "alive.sh": [],
};

/** Milliseconds for each script; KONVERGE_ALL_LINES tries all lines, however long it takes. */
const WITHIN = process.env["KONVERGE_ALL_LINES"] ? Number.POSITIVE_INFINITY : 60_000;

/** Plays all stories with a script at the same time; ends with the first that fails. */
async function storiesHold(tools: PostgresTools, name: string, text: string): Promise<void> {
  const options: StoryOptions = { scripts: { [name]: text }, patience: PATIENCE };
  const rooms = STORIES.map(() => new MachineRoom(tools));
  try {
    await Promise.all(STORIES.map((story, index) => story(rooms[index]!, options)));
  } finally {
    for (const room of rooms) await room[Symbol.asyncDispose]();
  }
}

const tools = findPostgres();
for (const [name, unnoticed] of Object.entries(UNNOTICED)) {
  test(`every line of ${name} is needed`, { skip: "why" in tools ? tools.why : false }, async () => {
    assert.ok("bin" in tools);
    const holds = (change: (name: string, text: string) => string) =>
      storiesHold(tools, name, change(name, script(name)));
    assert.deepEqual(await unmissedLines({ script: name, unnoticed, holds }, WITHIN), []);
  });
}
