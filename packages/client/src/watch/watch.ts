import {
  ApiError,
  backoffAfter,
  type Clock,
  groupResourceText,
  isResourceExpired,
  type KindRef,
  type KubeList,
  type KubeObject,
  resourcePath,
  sleep,
} from "@konverge/core";
import type { Caller } from "../call.ts";
import { TransportError } from "../errors.ts";
import { encodeQuery, type ObjectSelection, selectionQuery } from "../options.ts";
import { acceptList, acceptObject, stamp } from "../representation.ts";
import { EventReader, type RawEvent } from "./event-reader.ts";

export type WatchEvent<T extends KubeObject> =
  /** A listing starts. The events up to SYNCED are the complete state: drop all other objects. */
  | { type: "RESET" }
  /** The object was created or changed. */
  | { type: "ADDED" | "MODIFIED"; object: T }
  /** The object was deleted, or is no longer selected. This is its last state, with the version of its deletion. */
  | { type: "DELETED"; object: T }
  /** The listing is complete: the state as of this version. */
  | { type: "SYNCED"; resourceVersion: string }
  /** All changes up to this version have been reported. */
  | { type: "BOOKMARK"; resourceVersion: string }
  /** A failure, for logs and metrics. The watch continues after `retryIn` milliseconds. */
  | { type: "ERROR"; error: Error; retryIn: number };

export interface WatchOptions extends ObjectSelection {
  /** Ends the watch: the iteration finishes. */
  signal?: AbortSignal;
  /** Start after this version, without a listing. If the server no longer has that history, a listing follows. */
  resourceVersion?: string;
  /** How to list: as a stream of events (WatchList) where the server can, or in pages. Default: stream. */
  listing?: "stream" | "pages";
  /** Objects per page of a paged listing. Default: 500. */
  pageSize?: number;
  /**
   * Milliseconds without any event after which the connection is closed. Default: two minutes; servers send bookmarks
   * every minute.
   */
  inactivity?: number;
}

const DEFAULT_INACTIVITY = 120_000;
const DEFAULT_PAGE_SIZE = 500;
/** A server that knows WatchList begins to send at once, or waits some seconds for its own cache. */
const LISTING_SILENCE = 30_000;
/** A stream that ends sooner, without an event, is a failure in disguise. */
const SHORTEST_STREAM = 1000;
/** How long to wait before a failed stream is opened again. */
const BACKOFF = { initial: 500, longest: 30_000 };
/** How long the server is asked to keep a stream open: randomized each time, so that streams do not all end at once. */
const STREAM_SECONDS = { from: 300, to: 600 };
const INITIAL_EVENTS_END = "k8s.io/initial-events-end";

/**
 * All changes to the objects of a kind.
 *
 * Flow: RESET, an ADDED for each object there is, SYNCED; then ADDED, MODIFIED, DELETED and BOOKMARK as they happen.
 * When a connection ends or breaks, the next one resumes where it stopped. If the server no longer has that history
 * (410), a new RESET … SYNCED follows.
 *
 * Guarantees
 * - The last state of every object is reported. A listing can skip intermediate states.
 * - A deletion is reported as DELETED, or by the object's absence between RESET and SYNCED.
 * - MODIFIED and DELETED can also come before SYNCED, and apply to the listing so far.
 * - A listing that fails half-way is followed by another RESET, never by SYNCED.
 * - The iteration ends when the signal fires or the consumer leaves the loop. It throws only if no retry can succeed
 *   (an invalid selector, a kind that cannot be watched). All other failures are ERROR events, after which it retries
 *   with backoff: a forbidden or unknown kind can be permitted or installed later.
 * - {@link age} is the time since the server last sent something.
 *
 * Assumptions: versions of one kind grow; the server sends bookmarks or ends the stream now and then.
 *
 * Caveats: it can be iterated once. What is missing between RESET and SYNCED was deleted earlier; its last state is not
 * known. A consumer that stops reading stops the stream too: the server ends it after a while, and a listing can
 * follow.
 */
export class Watch<T extends KubeObject> implements AsyncIterable<WatchEvent<T>> {
  readonly kind: KindRef<T>;
  readonly #caller: Caller;
  readonly #clock: Clock;
  readonly #options: WatchOptions;
  /** Streams that failed or brought nothing in a row. */
  #failures = 0;
  readonly #inactivity: number;
  /** All that has been yielded is at least of this version; undefined: a listing is needed. */
  #version: string | undefined;
  #streamListing: boolean;
  #pageSize: number;
  #lastSign: number;

  constructor(caller: Caller, kind: KindRef<T>, options: WatchOptions) {
    this.kind = kind;
    this.#caller = caller;
    this.#clock = caller.clock;
    this.#options = options;
    this.#inactivity = options.inactivity ?? DEFAULT_INACTIVITY;
    this.#version = options.resourceVersion;
    this.#streamListing = options.listing !== "pages";
    this.#pageSize = options.pageSize ?? DEFAULT_PAGE_SIZE;
    this.#lastSign = caller.clock.monotonic();
  }

  #backoff(): number {
    return backoffAfter(this.#failures++, BACKOFF, this.#clock.random);
  }

  /** Milliseconds since the server last sent something, or since the watch was created. */
  get age(): number {
    return this.#clock.monotonic() - this.#lastSign;
  }

  /** The version up to which everything has been reported; undefined before the first SYNCED and during a listing. */
  get resourceVersion(): string | undefined {
    return this.#version;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<WatchEvent<T>, void, void> {
    const { signal } = this.#options;
    while (!signal?.aborted) {
      let wait = 0;
      try {
        const started = this.#clock.monotonic();
        const events = yield* this.#version === undefined ? this.#list() : this.#follow(this.#version);
        if (events === 0 && this.#clock.monotonic() - started < SHORTEST_STREAM) wait = this.#backoff();
      } catch (error) {
        if (signal?.aborted) return;
        const remedy = this.#remedyFor(error);
        if (remedy !== "other listing") wait = Math.max(this.#backoff(), retryAfter(error));
        if (remedy === "again") yield { type: "ERROR", error: error as Error, retryIn: wait };
      }
      if (wait > 0) await sleep(this.#clock, wait, { label: "watch back-off", signal }).catch(() => {});
    }
  }

  /** Sets the next attempt up, or throws when none can succeed. */
  #remedyFor(error: unknown): "again" | "new listing" | "other listing" {
    const listing = this.#version === undefined;
    if (error instanceof UnansweredListing || (listing && this.#streamListing && isRefusal(error))) {
      this.#streamListing = false;
      return "other listing";
    }
    if (isRefusal(error)) throw error;
    if (isResourceExpired(error)) {
      // A page that has expired was too long in coming: the next listing is in one piece.
      if (listing) this.#pageSize = 0;
      this.#version = undefined;
      return "new listing";
    }
    return "again";
  }

  async *#list(): AsyncGenerator<WatchEvent<T>, number, void> {
    return yield* this.#streamListing ? this.#listAsStream() : this.#listInPages();
  }

  async *#listInPages(): AsyncGenerator<WatchEvent<T>, number, void> {
    const { kind } = this;
    const { signal, namespace } = this.#options;
    let next: string | undefined;
    for (let first = true; ; first = false) {
      const query = { ...selectionQuery(this.#options), limit: this.#pageSize || undefined, continue: next };
      const page = await this.#caller.json<KubeList<T>>(
        {
          method: "GET",
          path: resourcePath(kind, { namespace }) + encodeQuery(query),
          accept: acceptList(kind),
        },
        { signal },
      );
      this.#signOfLife();
      if (first) yield { type: "RESET" };
      for (const item of page.items ?? []) yield { type: "ADDED", object: stamp(kind, item) };
      next = page.metadata.continue || undefined;
      if (next === undefined) return yield* this.#synced(page.metadata.resourceVersion ?? "");
    }
  }

  async *#synced(resourceVersion: string): AsyncGenerator<WatchEvent<T>, number, void> {
    this.#version = resourceVersion;
    yield { type: "SYNCED", resourceVersion };
    return 1;
  }

  /** Listing and watch in one stream: the bookmark that ends the listing carries an annotation. */
  async *#listAsStream(): AsyncGenerator<WatchEvent<T>, number, void> {
    const reader = await this.#open(
      { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan", resourceVersion: "" },
      Math.min(LISTING_SILENCE, this.#inactivity),
    );
    yield { type: "RESET" };
    let count = 0;
    try {
      for (;;) {
        const raw = await reader.next().catch((error: unknown) => {
          throw isSilence(error) ? new UnansweredListing() : error;
        });
        if (!raw) {
          const message = `the watch of ${groupResourceText(this.kind)} ended before its listing did`;
          throw new TransportError("closed", message, { unknownOutcome: false });
        }
        count++;
        const object = raw.object as T;
        if (raw.type === "BOOKMARK") {
          if (object.metadata.annotations?.[INITIAL_EVENTS_END] !== "true") continue;
          yield* this.#synced(object.metadata.resourceVersion!);
          reader.inactivity = this.#inactivity;
          return yield* this.#read(reader, count);
        }
        yield this.#change(raw);
      }
    } finally {
      reader.close();
    }
  }

  async *#follow(resourceVersion: string): AsyncGenerator<WatchEvent<T>, number, void> {
    const reader = await this.#open({ resourceVersion }, this.#inactivity);
    try {
      return yield* this.#read(reader, 0);
    } finally {
      reader.close();
    }
  }

  /** Reports what comes until the server ends the stream. */
  async *#read(reader: EventReader, before: number): AsyncGenerator<WatchEvent<T>, number, void> {
    let count = before;
    for (;;) {
      const raw = await reader.next();
      if (!raw) return count;
      count++;
      this.#failures = 0;
      const resourceVersion = (raw.object as T).metadata.resourceVersion!;
      yield raw.type === "BOOKMARK" ? { type: "BOOKMARK", resourceVersion } : this.#change(raw);
      this.#version = resourceVersion;
    }
  }

  #change(raw: RawEvent): WatchEvent<T> {
    return { type: raw.type as "ADDED" | "MODIFIED" | "DELETED", object: stamp(this.kind, raw.object as T) };
  }

  async #open(query: Record<string, string | boolean>, inactivity: number): Promise<EventReader> {
    const { kind } = this;
    const { signal, namespace } = this.#options;
    const { from, to } = STREAM_SECONDS;
    const timeoutSeconds = from + this.#clock.random.below(to - from);
    const stream = new AbortController();
    const response = await this.#caller.open(
      {
        method: "GET",
        path:
          resourcePath(kind, { namespace }) +
          encodeQuery({
            watch: true,
            allowWatchBookmarks: true,
            timeoutSeconds,
            ...selectionQuery(this.#options),
            ...query,
          }),
        accept: acceptObject(kind),
      },
      { signal: signal ? AbortSignal.any([signal, stream.signal]) : stream.signal },
    );
    this.#signOfLife();
    return new EventReader(response.body, inactivity, {
      clock: this.#clock,
      signal,
      subject: groupResourceText(kind),
      onLine: () => this.#signOfLife(),
      cancel: (reason) => stream.abort(reason),
    });
  }

  #signOfLife(): void {
    this.#lastSign = this.#clock.monotonic();
  }
}

/** A server that does not know WatchList, and does not say so. */
class UnansweredListing extends Error {}

const retryAfter = (error: unknown) => (error instanceof ApiError ? (error.retryAfter ?? 0) : 0);

const isSilence = (error: unknown) => error instanceof TransportError && error.code === "timeout";

/** Asking again in the same words would get the same answer. */
const isRefusal = (error: unknown) => error instanceof ApiError && REFUSALS.has(error.code);
const REFUSALS = new Set([400, 405, 406, 415, 422]);
