import { realClock, seededRandom, sleep } from "@konverge/core";
import { check } from "./check.ts";
import { Client } from "./client.ts";
import { Connection } from "./connection.ts";
import { Faults } from "./faults.ts";
import { type Check, emptyHistory, type History } from "./history.ts";
import { Lister } from "./lister.ts";
import { Relay } from "./relay.ts";
import { preparation, RESOURCES, type Stage } from "./stage.ts";
import type { Target } from "./target.ts";
import { Watcher } from "./watcher.ts";

export interface RunOptions {
  readonly seconds: number;
  /** Chooses what clients do, and the faults. The moments at which things happen are the machine's. */
  readonly seed: number;
  readonly clients: number;
}

export interface RunResult {
  readonly checks: readonly Check[];
  readonly numbers: Readonly<Record<string, number>>;
  readonly history: History;
}

/** Objects of each resource that clients write at the same time. */
const OBJECTS = 5;
const SELECTORS = [undefined, undefined, "a"] as const;

/** Lets clients loose on a server with faults, and checks the history of what they sent and received. */
export async function run(target: Target, { seconds, seed, clients }: RunOptions): Promise<RunResult> {
  const clock = realClock();
  const random = seededRandom(seed);
  const history = emptyHistory();
  const relay = new Relay(() => target.port, random.fork());
  const faults = new Faults(clock, random.fork(), history, target, relay);
  let isOver = false;
  const stage: Stage = {
    clock,
    access: { ...target.access, port: await relay.listen() },
    history,
    known: new Map(),
    revisions: [],
    names: new Map(RESOURCES.map(({ plural }) => [plural, Array.from({ length: OBJECTS }, (_, i) => `first-${i}`)])),
    up: () => faults.up,
    get isOver() {
      return isOver;
    },
  };
  try {
    await prepare(stage);
    const writers = Array.from({ length: clients }, (_, i) => new Client(`client-${i}`, stage, random.fork()));
    const watchers = RESOURCES.flatMap((resource) =>
      SELECTORS.map(
        (shard, i) => new Watcher(`watcher-${resource.plural}-${i}`, resource, shard, stage, random.fork()),
      ),
    );
    const watched = Promise.all(watchers.map((one) => one.run()));
    const written = Promise.all(writers.map((one) => one.run()));
    await faults.run(seconds * 1000);
    isOver = true;
    await written;
    await conclude(stage, watchers, random.fork());
    for (const one of watchers) one.end();
    await watched;
    history.surprises.push(...target.problems);
    const numbers = { ...countsOf(history), "connections cut": relay.cuts, ...faults.counts };
    return { checks: [...check(history, target.retention), enough(numbers)], numbers, history };
  } finally {
    await relay.close();
  }
}

async function prepare({ access, clock }: Stage): Promise<void> {
  const admin = new Connection(access);
  for (const [path, body] of preparation()) {
    // A connection that is cut is tried again.
    for (let attempt = 0; ; attempt++) {
      const answer = await admin.ask("POST", path, { body }).catch(() => undefined);
      if (answer?.status === 201 || answer?.status === 409) break;
      if (attempt === 10) throw new Error(`cannot prepare ${path}: ${JSON.stringify(answer?.body)}`);
      await sleep(clock, 200);
    }
  }
  admin.close();
}

/** Reads the final state, makes a last object of each resource, and waits until all watches have reported it. */
async function conclude(
  stage: Stage,
  watchers: readonly Watcher[],
  random: ReturnType<typeof seededRandom>,
): Promise<void> {
  const { clock, history } = stage;
  const client = new Client("final", stage, random);
  const connection = new Connection(stage.access);
  const lister = new Lister("final", stage, random, connection);
  const last = new Map<string, number>();
  const end = clock.monotonic() + 60_000;
  for (const resource of RESOURCES) {
    while (!(await lister.consistent(resource)) && clock.monotonic() < end) await sleep(clock, 100);
    while (!last.has(resource.plural) && clock.monotonic() < end) {
      const { result } = await client.create(resource, random.uuid().slice(0, 8));
      if (result.is === "stored") last.set(resource.plural, result.version.revision);
    }
  }
  connection.close();
  const behind = () => watchers.filter((one) => one.position < (last.get(one.resource) ?? Number.POSITIVE_INFINITY));
  while (behind().length > 0 && clock.monotonic() < end) await sleep(clock, 50);
  for (const { name, position, resource } of behind()) {
    history.surprises.push(
      `${name} has come to revision ${position} only, not to ${last.get(resource)}, within a minute`,
    );
  }
}

function countsOf({ operations, listings, streams, expirations }: History): Record<string, number> {
  const count = (...outcomes: string[]) => operations.filter(({ result }) => outcomes.includes(result.is)).length;
  const writes = operations.filter(({ action }) => action.verb !== "get");
  return {
    operations: operations.length,
    "writes acknowledged": count("stored", "deleted"),
    "conflicts and other refusals": count("conflict", "exists", "absent", "refused"),
    "writes with unknown outcome": writes.filter(({ result }) => result.is === "unknown").length,
    lists: listings.length,
    watches: streams.length,
    "events and bookmarks": streams.reduce((sum, { events }) => sum + events.length, 0),
    "answers 410": expirations.length,
  };
}

/** A run in which next to nothing happened shows nothing. */
function enough(numbers: Readonly<Record<string, number>>): Check {
  const least = { "writes acknowledged": 50, "events and bookmarks": 50, kills: 1, lists: 10 };
  const problems = Object.entries(least)
    .filter(([name, count]) => (numbers[name] ?? 0) < count)
    .map(([name, count]) => `${name}: ${numbers[name]}, at least ${count} are needed: give it more seconds`);
  return { what: "enough happened for a verdict", problems };
}
