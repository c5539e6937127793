import assert from "node:assert/strict";
import { test } from "node:test";
import { script } from "@konverge/database-operator";
import { MachineRoom } from "./postgres.ts";
import { findPostgres, type PostgresTools } from "./postgres-tools.ts";
import {
  archives,
  confirms,
  handsOver,
  isCareful,
  rebuilds,
  rewinds,
  rotates,
  type Story,
  type StoryOptions,
} from "./replication-stories.ts";
import { type CodeLine, type Unnoticed, unmissedLines } from "./script-mutations.ts";

const STORIES = [handsOver, rewinds, confirms, rotates, isCareful, rebuilds, archives];
/** The story that most likely misses a line, by the function that it is in. It is played alone, the others if it holds. */
const FIRST: Readonly<Record<string, Story>> = {
  confirming: confirms,
  set_passwords: rotates,
  is_overtaken: rewinds,
  is_gone: rebuilds,
  join: isCareful,
  end: isCareful,
  has_data: isCareful,
};
/** Lines that are tried at the same time: mostly they wait. */
const LANES = 3;
/** Milliseconds. What works takes a second or two; what does not is waited for as long. */
const PATIENCE = 15_000;

const UNNOTICED: Readonly<Record<string, readonly Unnoticed[]>> = {
  "server.sh": [
    { line: "set -u", why: "no variable is missing here" },
    { line: "say ", why: "it only tells" },
    { line: 'cmp -s "$RUN/postgresql.conf.new"', why: "it only saves reading what is the same" },
    { line: 'wait "$server"', why: "pg_ctl waits for its end as well; this only takes the ended process away" },
    { line: "server=''", why: "another process would have to get the number of the one that has ended" },
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
  "status.sh": [
    { line: "set -u", why: "no variable is missing here" },
    { line: "\\endif", why: "at the end of all, without it psql only complains" },
  ],
  "alive.sh": [],
};

/** Milliseconds for each script; KONVERGE_ALL_LINES tries all lines, or those from a number on, however long it takes. */
const WITHIN = process.env["KONVERGE_ALL_LINES"] ? Number.POSITIVE_INFINITY : 60_000;

/** Plays stories with a script at the same time; ends with the first that fails. */
async function storiesHold(tools: PostgresTools, stories: readonly Story[], options: StoryOptions): Promise<void> {
  const rooms = stories.map(() => new MachineRoom(tools));
  try {
    await Promise.all(stories.map((story, index) => story(rooms[index]!, options)));
  } finally {
    for (const room of rooms) await room[Symbol.asyncDispose]();
  }
}

const tools = findPostgres();
for (const [name, unnoticed] of Object.entries(UNNOTICED)) {
  test(`every line of ${name} is needed`, { skip: "why" in tools ? tools.why : false }, async () => {
    assert.ok("bin" in tools);
    const holds = async (change: (name: string, text: string) => string, line?: CodeLine) => {
      const options: StoryOptions = { scripts: { [name]: change(name, script(name)) }, patience: PATIENCE };
      const first = FIRST[line?.within ?? ""] ?? handsOver;
      await storiesHold(tools, [first], options);
      const others = STORIES.filter((story) => story !== first);
      for (let at = 0; at < others.length; at += 2) await storiesHold(tools, others.slice(at, at + 2), options);
    };
    assert.deepEqual(await unmissedLines({ script: name, unnoticed, holds, lanes: LANES }, WITHIN), []);
  });
}
