import type { Random } from "@konverge/core";
import { type Connection, LostResponse } from "./connection.ts";
import type { Listing, Version } from "./history.ts";
import { isOurs, pathOf, type Resource, type Stage, type StoredObject, versionOf } from "./stage.ts";

interface List {
  metadata: { resourceVersion: string; continue?: string };
  items: StoredObject[];
}

/** Reads lists of every kind: consistent, at a revision, not older than one; in pages, or as a stream. */
export class Lister {
  readonly #name: string;
  readonly #stage: Stage;
  readonly #random: Random;
  readonly #connection: Connection;

  constructor(name: string, stage: Stage, random: Random, connection: Connection) {
    this.#name = name;
    this.#stage = stage;
    this.#random = random;
    this.#connection = connection;
  }

  /** A list of some kind; undefined if its response was lost. */
  list(resource: Resource): Promise<Listing | undefined> {
    const revision =
      this.#random.pick([0, 1, 2]) === 0 ? this.#stage.revisions.at(-this.#random.below(100) - 1) : undefined;
    if (revision !== undefined) return this.#pages(resource, String(revision), this.#random.below(2) === 0);
    return this.#random.below(4) === 0 ? this.#pages(resource, "0", false) : this.consistent(resource);
  }

  consistent(resource: Resource): Promise<Listing | undefined> {
    return this.#random.below(3) === 0 ? this.#stream(resource) : this.#pages(resource, "", false);
  }

  async #pages(resource: Resource, at: string, isExact: boolean): Promise<Listing | undefined> {
    const called = this.#stage.clock.monotonic();
    const limit = this.#random.pick([0, 2, 7]);
    const match = at === "" || at === "0" ? "" : `&resourceVersionMatch=${isExact ? "Exact" : "NotOlderThan"}`;
    const items: Version[] = [];
    let query = `limit=${limit}&resourceVersion=${at}${match}`;
    let revision: string | undefined;
    for (;;) {
      const page = await this.#page(resource, query, Number(revision ?? (isExact ? at : 0)));
      if (!page) return undefined;
      const { resourceVersion, continue: next } = page.metadata;
      if (revision !== undefined && revision !== resourceVersion) {
        this.#surprise(`the pages of a list are of revisions ${revision} and ${resourceVersion}`);
      }
      revision = resourceVersion;
      items.push(...page.items.map((item) => versionOf(resource, item)).filter(isOurs));
      if (!next)
        return this.#record({ resource: resource.plural, called, at, isExact, revision: Number(revision), items });
      query = `limit=${limit}&continue=${encodeURIComponent(next)}`;
    }
  }

  async #page(resource: Resource, query: string, revision: number): Promise<List | undefined> {
    const path = `${pathOf(resource)}?${query}`;
    const answer = await this.#connection.ask<List>("GET", path, { patience: 20_000 }).catch((error) => {
      if (error instanceof LostResponse) return undefined;
      throw error;
    });
    if (!answer || answer.status >= 500 || answer.status === 429) return undefined;
    if (answer.status === 200) return answer.body;
    const at = this.#stage.clock.monotonic();
    if (answer.status !== 410)
      this.#surprise(`a list was answered with ${answer.status}: ${JSON.stringify(answer.body)}`);
    else
      this.#stage.history.expirations.push({
        client: this.#name,
        what: "list",
        resource: resource.plural,
        revision,
        at,
      });
    return undefined;
  }

  /** As a stream, which a bookmark ends that marks the end of the list. */
  async #stream(resource: Resource): Promise<Listing | undefined> {
    const called = this.#stage.clock.monotonic();
    const query = "watch=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
    const items: Version[] = [];
    const ending = new AbortController();
    const signal = AbortSignal.any([ending.signal, AbortSignal.timeout(20_000)]);
    try {
      for await (const line of this.#connection.lines(`${pathOf(resource)}?${query}`, signal)) {
        const { type, object } = line as { type: string; object: StoredObject };
        if (type === "ERROR") return undefined;
        const isEnd = object.metadata.annotations?.["k8s.io/initial-events-end"] === "true";
        const revision = Number(object.metadata.resourceVersion);
        if (isEnd) return this.#record({ resource: resource.plural, called, at: "", isExact: false, revision, items });
        if (type !== "ADDED") this.#surprise(`a streamed list had an event of type ${type}`);
        items.push(...[versionOf(resource, object)].filter(isOurs));
      }
    } finally {
      ending.abort();
    }
    return undefined;
  }

  #record(listing: Omit<Listing, "client" | "returned">): Listing {
    const whole = { ...listing, client: this.#name, returned: this.#stage.clock.monotonic() };
    this.#stage.history.listings.push(whole);
    this.#stage.revisions.push(whole.revision);
    return whole;
  }

  #surprise(what: string): void {
    this.#stage.history.surprises.push(`${this.#name}: ${what.slice(0, 400)}`);
  }
}
