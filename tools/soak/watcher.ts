import { type Random, sleep } from "@konverge/core";
import { Connection } from "./connection.ts";
import { type Seen, type StoredObject, seen } from "./ledger.ts";
import { pathOf, type Resource } from "./resources.ts";
import type { Stage } from "./stage.ts";

export interface WatchEvent extends Seen {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
}

/** What a watch has told from a list on: without a gap, through any number of connections. */
export interface Segment {
  /** The version of the list. */
  readonly from: number;
  readonly listed: readonly Seen[];
  readonly events: WatchEvent[];
  /** The newest version it has told of, by an event or a bookmark. */
  to: number;
}

interface Line {
  type: WatchEvent["type"] | "BOOKMARK" | "ERROR";
  object: StoredObject & { code?: number; metadata: { resourceVersion: string; annotations?: Record<string, string> } };
}

interface List {
  metadata: { resourceVersion: string; continue?: string };
  items: StoredObject[];
}

/** Longer than the server's memory: who sleeps this long cannot resume. */
const LONG_PAUSE = 6_000;

/**
 * A client that lists and watches, and resumes where it was: with the last version it has seen, whatever cut it off. Only a
 * version that is too old makes it list again, which begins another segment.
 */
export class Watcher {
  readonly name: string;
  readonly resource: Resource;
  readonly segments: Segment[] = [];
  readonly #stage: Stage;
  readonly #random: Random;
  readonly #connection: Connection;
  /** Watches that were opened. */
  connections = 0;
  #ended = false;

  constructor(name: string, resource: Resource, stage: Stage, random: Random) {
    this.name = name;
    this.resource = resource;
    this.#stage = stage;
    this.#random = random;
    this.#connection = new Connection(stage.access);
  }

  /** The newest version it has seen. */
  get position(): number {
    return this.segments.at(-1)?.to ?? 0;
  }

  async run(): Promise<void> {
    let current: Segment | undefined;
    while (!this.#ended) {
      await this.#stage.up();
      try {
        current ??= await this.#list();
        if ((await this.#watch(current)) === "gone") current = undefined;
      } catch (error) {
        if ((error as { code?: string }).code === undefined) this.#stage.ledger.surprise(`${this.name}: ${error}`);
      }
      const isLong = this.#random.below(12) === 0 && !this.#stage.over;
      await sleep(this.#stage.clock, isLong ? LONG_PAUSE : this.#random.below(50));
    }
  }

  end(): void {
    this.#ended = true;
    this.#connection.close();
  }

  #begin(from: number, listed: Seen[]): Segment {
    const segment = { from, listed, events: [], to: from };
    this.segments.push(segment);
    return segment;
  }

  #list(): Promise<Segment> {
    return this.#random.below(2) === 0 ? this.#streamedList() : this.#pagedList();
  }

  /** In pages of some length, which together are the state at one version. */
  async #pagedList(): Promise<Segment> {
    const limit = this.#random.pick([0, 7, 40]);
    for (;;) {
      const items: Seen[] = [];
      let list: List | undefined;
      let isExpired = false;
      do {
        const token = list?.metadata.continue;
        const query = `limit=${limit}${token ? `&continue=${encodeURIComponent(token)}` : ""}`;
        const { status, body } = await this.#connection.ask<List>("GET", `${pathOf(this.resource)}?${query}`);
        isExpired = status === 410;
        if (status !== 200 && !isExpired) throw new Error(`a list was answered with ${status}`);
        if (!isExpired) {
          list = body;
          items.push(...body.items.map(seen));
        }
      } while (!isExpired && list?.metadata.continue);
      if (!isExpired) return this.#begin(Number(list!.metadata.resourceVersion), items);
    }
  }

  /** As a stream, which ends with a bookmark that says so. */
  async #streamedList(): Promise<Segment> {
    const query = "watch=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
    const items: Seen[] = [];
    for await (const line of this.#connection.lines(`${pathOf(this.resource)}?${query}`)) {
      const { type, object } = line as Line;
      if (type === "BOOKMARK" && object.metadata.annotations?.["k8s.io/initial-events-end"] === "true") {
        return this.#begin(Number(object.metadata.resourceVersion), items);
      }
      if (type !== "ADDED") throw new Error(`a streamed list had an event of type ${type}`);
      items.push(seen(object));
    }
    throw Object.assign(new Error("a streamed list was cut"), { code: "CUT" });
  }

  async #watch(segment: Segment): Promise<"cut" | "gone"> {
    this.connections++;
    const query = `watch=1&allowWatchBookmarks=true&resourceVersion=${segment.to}`;
    // Some watches end by themselves.
    const timeout = this.#random.below(3) === 0 ? "&timeoutSeconds=2" : "";
    for await (const line of this.#connection.lines(`${pathOf(this.resource)}?${query}${timeout}`)) {
      const { type, object } = line as Line;
      // Refused at once, or told in the stream.
      if (type === "ERROR" || type === undefined) {
        const code = type === undefined ? (line as { code?: number }).code : object.code;
        if (code === 410) return "gone";
        throw new Error(`a watch had an error: ${JSON.stringify(line)}`);
      }
      if (type !== "BOOKMARK") segment.events.push({ type, ...seen(object) });
      // A bookmark may repeat a version, never go back.
      const revision = Number(object.metadata.resourceVersion);
      if (type === "BOOKMARK" && revision < segment.to) {
        this.#stage.ledger.surprise(`${this.name}: a bookmark of ${revision} after ${segment.to}`);
      }
      segment.to = revision;
    }
    return "cut";
  }
}
