import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthority } from "@konverge/apiserver";
import { type Clock, type Random, realClock, seededRandom, sleep } from "@konverge/core";
import { Connection } from "./connection.ts";
import { Contender } from "./contender.ts";
import { Ledger, type StoredObject } from "./ledger.ts";
import { Owner } from "./owner.ts";
import { Relay } from "./relay.ts";
import { pathOf, preparation, RESOURCES } from "./resources.ts";
import { ServerProcess } from "./server-process.ts";
import type { Stage } from "./stage.ts";
import { type Check, type FinalState, verify } from "./verify.ts";
import { Watcher } from "./watcher.ts";

export interface SoakOptions {
  seconds: number;
  /** Chooses what clients do, and when connections and the server come to harm. */
  seed: number;
  owners?: number;
  contenders?: number;
  /** Of each resource. */
  watchers?: number;
}

export interface SoakResult {
  readonly checks: readonly Check[];
  /** What happened, as numbers with their names. */
  readonly numbers: Readonly<Record<string, number>>;
}

/** Lets clients loose on a server that is killed and whose connections are cut, and checks what all of them were told. */
export async function soak(options: SoakOptions): Promise<SoakResult> {
  const { seconds, seed, owners = 6, contenders = 3, watchers = 3 } = options;
  const clock = realClock();
  const random = seededRandom(seed);
  const folder = mkdtempSync(join(tmpdir(), "konverge-soak-"));
  const authority = createAuthority(clock);
  writeFileSync(join(folder, "ca.crt"), authority.cert);
  writeFileSync(join(folder, "ca.key"), authority.key, { mode: 0o600 });
  const server = new ServerProcess(folder);
  const relay = new Relay(() => server.port);
  const ledger = new Ledger();
  try {
    await server.start();
    const credential = authority.client("soak", ["system:masters"]);
    const access = { port: await relay.listen(), ca: authority.cert, ...credential };
    const harm = new Harm(clock, random.fork(), ledger, server, relay);
    const stage: Stage = {
      clock,
      access,
      ledger,
      up: () => harm.up,
      get over() {
        return harm.over;
      },
    };
    const admin = new Connection(access);
    await prepare(admin);
    const writing = [
      ...Array.from({ length: owners }, (_, i) => new Owner(`owner-${i}`, stage, random.fork())),
      ...Array.from({ length: contenders }, (_, i) => new Contender(`contender-${i}`, stage, random.fork())),
    ];
    const watching = RESOURCES.flatMap((resource) =>
      Array.from(
        { length: watchers },
        (_, i) => new Watcher(`${resource.plural} ${i}`, resource, stage, random.fork()),
      ),
    );
    const watched = Promise.all(watching.map((one) => one.run()));
    const written = Promise.all(writing.map((one) => one.run()));
    await harm.run(seconds * 1000);
    await written;
    const final = await finalState(admin);
    await caughtUp(clock, watching, final.revision);
    for (const one of watching) one.end();
    await watched;
    admin.close();
    if (server.complaints) ledger.surprise(`the server complained: ${server.complaints}`);
    const counting = writing.filter((one) => one instanceof Contender);
    const sum = (of: (one: Watcher) => number) => watching.reduce((total, one) => total + of(one), 0);
    const numbers = {
      "writes acknowledged": ledger.count("acknowledged"),
      "writes refused (conflicts)": ledger.count("refused"),
      "writes in doubt": ledger.count("doubtful"),
      "times the server was killed": server.starts - 1,
      "connections cut": relay.cuts,
      "watches opened": sum(({ connections }) => connections),
      "lists begun anew (410)": sum(({ segments }) => segments.length - 1),
      "events watched": sum(({ segments }) => segments.reduce((total, { events }) => total + events.length, 0)),
      "objects left": [...final.state.values()].reduce((total, { length }) => total + length, 0),
    };
    const checks = verify(ledger, watching, counting, final.state);
    return { checks: [...checks, { what: "enough has happened to tell", problems: tooLittle(numbers) }], numbers };
  } finally {
    await server.kill();
    await relay.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A run in which next to nothing happened shows nothing. */
function tooLittle(numbers: Readonly<Record<string, number>>): string[] {
  return Object.entries({ "writes acknowledged": 50, "events watched": 50, "times the server was killed": 1 })
    .filter(([name, least]) => numbers[name]! < least)
    .map(([name, least]) => `${name}: ${numbers[name]}, at least ${least} are needed: give it more seconds`);
}

/** What goes wrong, and when. */
class Harm {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #ledger: Ledger;
  readonly #server: ServerProcess;
  readonly #relay: Relay;
  /** Resolves when the server runs. */
  up: Promise<void> = Promise.resolve();
  over = false;

  constructor(clock: Clock, random: Random, ledger: Ledger, server: ServerProcess, relay: Relay) {
    this.#clock = clock;
    this.#random = random;
    this.#ledger = ledger;
    this.#server = server;
    this.#relay = relay;
  }

  /** Ends with a last kill, in the middle of the writing, so that the final state is one that was read from the file. */
  async run(ms: number): Promise<void> {
    const end = this.#clock.monotonic() + ms;
    while (this.#clock.monotonic() < end) {
      await this.#writes(20 + this.#random.below(200), end);
      if (this.#random.below(4) === 0) await this.#restart();
      else this.#relay.cut(this.#random.pick([0.1, 0.5, 1]), this.#random);
    }
    this.over = true;
    await this.#restart();
  }

  /** Harm comes after so many writes rather than so many seconds: on a slow machine there would be little else. */
  async #writes(count: number, end: number): Promise<void> {
    const enough = this.#ledger.writes.length + count;
    while (this.#ledger.writes.length < enough && this.#clock.monotonic() < end) await sleep(this.#clock, 5);
  }

  async #restart(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.up = promise;
    promise.catch(() => {});
    try {
      await this.#server.kill();
      await this.#server.start();
      resolve();
    } catch (error) {
      reject(error);
      throw error;
    }
  }
}

async function prepare(admin: Connection): Promise<void> {
  for (const [path, object] of preparation()) {
    const { status, body } = await admin.ask("POST", path, object);
    if (status !== 201) throw new Error(`cannot prepare ${path}: ${JSON.stringify(body)}`);
  }
}

/** All objects, and a version that every watch must come to: that of a last write to each resource. */
async function finalState(admin: Connection): Promise<{ state: FinalState; revision: Record<string, number> }> {
  const state = new Map<string, StoredObject[]>();
  const revision: Record<string, number> = {};
  for (const resource of RESOURCES) {
    const path = pathOf(resource);
    const { body } = await admin.ask<{ items: StoredObject[] }>("GET", path);
    state.set(resource.plural, body.items);
    revision[resource.plural] = Math.max(0, ...body.items.map(({ metadata }) => Number(metadata.resourceVersion)));
  }
  return { state, revision };
}

/** Waits until all watches have told of the newest object: within a minute, or what they lack is found to be lost. */
async function caughtUp(clock: Clock, watchers: readonly Watcher[], revision: Record<string, number>): Promise<void> {
  const end = clock.monotonic() + 60_000;
  const isBehind = (one: Watcher) => one.position < (revision[one.resource.plural] ?? 0);
  while (watchers.some(isBehind) && clock.monotonic() < end) await sleep(clock, 50);
}
