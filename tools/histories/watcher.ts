import { type Random, sleep } from "@konverge/core";
import { Connection } from "./connection.ts";
import type { Stream, StreamEvent } from "./history.ts";
import { Lister } from "./lister.ts";
import { isOurs, pathOf, type Resource, type Stage, type StoredObject, versionOf } from "./stage.ts";

interface Line {
  type: StreamEvent["type"] | "ERROR";
  object: StoredObject & { code?: number };
}

/** Revisions from which a watch may resume: the last ones that it delivered. */
const MOST_REVISIONS = 300;

/**
 * A client that watches, and resumes: mostly from the last revision that it has received, sometimes from any earlier one, or
 * from one that another client has received. Only an answer 410 makes it list again.
 */
export class Watcher {
  readonly name: string;
  readonly #resource: Resource;
  readonly #shard: string | undefined;
  readonly #stage: Stage;
  readonly #random: Random;
  readonly #connection: Connection;
  readonly #lister: Lister;
  readonly #ending = new AbortController();
  /** Received, in order. */
  #revisions: number[] = [];

  constructor(name: string, resource: Resource, shard: string | undefined, stage: Stage, random: Random) {
    this.name = name;
    this.#resource = resource;
    this.#shard = shard;
    this.#stage = stage;
    this.#random = random;
    this.#connection = new Connection(stage.access);
    this.#lister = new Lister(name, stage, random, this.#connection);
  }

  /** The newest revision that it has received. */
  get position(): number {
    return this.#revisions.at(-1) ?? 0;
  }

  get resource(): string {
    return this.#resource.plural;
  }

  async run(): Promise<void> {
    while (!this.#ending.signal.aborted) {
      await this.#stage.up();
      if (this.#revisions.length === 0) {
        const list = await this.#lister.consistent(this.#resource);
        if (list) this.#revisions = [list.revision];
      } else await this.#watch(this.#from());
      await sleep(this.#stage.clock, this.#random.below(50));
    }
  }

  end(): void {
    this.#ending.abort();
    this.#connection.close();
  }

  #from(): number {
    if (this.#stage.isOver) return this.position;
    const choice = this.#random.below(10);
    if (choice < 6) return this.position;
    return this.#random.pick(choice < 9 ? this.#revisions : [this.position, ...this.#stage.revisions.slice(-50)]);
  }

  async #watch(from: number): Promise<void> {
    const { clock, history } = this.#stage;
    const stream: Stream = {
      client: this.name,
      resource: this.#resource.plural,
      ...(this.#shard !== undefined && { shard: this.#shard }),
      from,
      called: clock.monotonic(),
      events: [],
    };
    history.streams.push(stream);
    const selector = this.#shard === undefined ? "" : `&labelSelector=shard%3D${this.#shard}`;
    const timeout = this.#random.below(3) === 0 ? "&timeoutSeconds=2" : "";
    const path = `${pathOf(this.#resource)}?watch=1&allowWatchBookmarks=true&resourceVersion=${from}${selector}${timeout}`;
    // Sometimes the client ends it.
    const patience = this.#random.below(3) === 0 ? 100 + this.#random.below(4_000) : 30_000;
    const signal = AbortSignal.any([this.#ending.signal, AbortSignal.timeout(patience)]);
    for await (const line of this.#connection.lines(path, signal)) {
      if (!this.#receive(stream, line as Line)) return;
    }
  }

  /** False ends the stream. */
  #receive({ events, from }: Stream, { type, object }: Line): boolean {
    const { clock, history } = this.#stage;
    const at = clock.monotonic();
    if (type === "ERROR") {
      const last = events.at(-1);
      const revision = last ? (last.type === "BOOKMARK" ? last.revision : last.version.revision) : from;
      if (object.code === 410) {
        history.expirations.push({ client: this.name, what: "watch", resource: this.resource, revision, at });
        this.#revisions = [];
      } else if (!(object.code! >= 500 || object.code === 429)) {
        history.surprises.push(
          `${this.name}: a watch from ${from} was answered ${JSON.stringify(object).slice(0, 300)}`,
        );
      }
      return false;
    }
    const version = versionOf(this.#resource, object);
    if (type === "BOOKMARK") events.push({ type, at, revision: version.revision });
    else if (isOurs(version)) events.push({ type, at, version });
    if (version.revision > this.position) this.#revisions.push(version.revision);
    if (this.#revisions.length > MOST_REVISIONS) this.#revisions.splice(0, MOST_REVISIONS / 2);
    return true;
  }
}
