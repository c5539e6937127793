import { ApiError, type ApiResponse, type Clock, expired, type MessageSocket, type Timer } from "@konverge/core";
import type { Activity, OpenWatch } from "../activity.ts";
import type { Call } from "../call/call.ts";
import { type ListParameters, listParameters } from "../http/query.ts";
import { EventWriter, errorLine } from "../representation/event-text.ts";
import { checkTableParameters } from "../representation/table.ts";
import type { StoredChange } from "../storage/entry.ts";
import { revisionOf, versionProblem, waitFor } from "./resource-version.ts";
import { type Selection, selectionOf } from "./selectors.ts";

/** How often a quiet watch says how far it has come. */
const BOOKMARK_INTERVAL = 60_000;
/** A watch that does not say how long ends after once to twice this time. */
const SHORTEST_WATCH_SECONDS = 1800;
/**
 * A watcher that leaves an event unread for so long, in milliseconds, is ended: all that happens meanwhile would be kept for it. A
 * real server ends one whose buffer is full.
 */
const STALL_TIMEOUT = 60_000;

/**
 * Streams the changes after a revision, or with sendInitialEvents first everything there is: as the lines of an answer, or
 * as the messages of a WebSocket.
 *
 * Guarantees: every change that concerns the selection, once, in order. A change that brings an object into the selection
 * is ADDED, one that takes it out is DELETED with the object's last selected state. A watcher whose position has been
 * compacted away gets an ERROR event (410) and is ended.
 */
export async function watch(call: Call): Promise<ApiResponse> {
  const parameters = listParameters(call.info.query, true);
  const selection = selectionOf(call);
  const start = startOf(parameters);
  if (call.form.target === "Table") checkTableParameters(call);
  const headers = { "content-type": "application/json" };
  const { upgrade } = call.request;
  if (!upgrade) {
    return { status: 200, headers, body: stream(call, selection, start, parameters), stallTimeout: STALL_TIMEOUT };
  }
  const closed = new AbortController();
  const signal = AbortSignal.any([closed.signal, ...(call.request.signal ? [call.request.signal] : [])]);
  const socket: MessageSocket = {
    protocol: upgrade[0] ?? "",
    messages: stream({ ...call, request: { ...call.request, signal } }, selection, start, parameters),
    // A watcher has nothing to say.
    send: () => undefined,
    close: () => closed.abort(),
  };
  return { status: 101, headers, body: "", socket, stallTimeout: STALL_TIMEOUT };
}

interface Start {
  /** Send what exists first, as ADDED events. */
  readonly initial: boolean;
  /** Initial events: at least as new as this. Else: what comes after it; undefined for what comes after now. */
  readonly revision: number | undefined;
}

function startOf({ resourceVersion, sendInitialEvents }: ListParameters): Start {
  const revision = revisionOf(resourceVersion);
  if (revision === undefined) {
    throw new ApiError({ code: 500, message: versionProblem(resourceVersion) });
  }
  if (sendInitialEvents ?? revision === 0) return { initial: true, revision };
  return { initial: false, revision: revision === 0 ? undefined : revision };
}

async function* stream(
  call: Call,
  selection: Selection,
  start: Start,
  parameters: ListParameters,
): AsyncGenerator<string> {
  const { store, definition } = call;
  const writer = new EventWriter(call);
  const pulse = new Pulse(call, parameters);
  try {
    let position = start.revision ?? store.published;
    if (start.initial) {
      await waitFor(call, start.revision ?? 0);
      position = store.published;
      for (const entry of store.collection(definition.storage).at(position)!.scan(selection.prefix)) {
        if (await selection.matches(entry)) yield await writer.entry("ADDED", entry);
      }
      if (parameters.allowWatchBookmarks) yield writer.bookmark(position, true);
    }
    for (let isLast = pulse.ended; ; isLast = pulse.ended) {
      // Events before the end are still sent: the objects of a definition are deleted just before it.
      if (isLast) await store.durable();
      // Whatever is published while these are sent comes in the next round: a bookmark must not go past it.
      const { published } = store;
      const changes = position > published ? [] : store.collection(definition.storage).changesAfter(position);
      if (!changes) throw expired(`too old resource version: ${position} (${published})`);
      for (const change of changes) {
        if (change.revision > published) break;
        const made = changeLine(writer, selection, change);
        const line = typeof made === "string" ? made : await made;
        position = change.revision;
        if (line) yield line;
      }
      if (pulse.takeBookmark()) {
        position = Math.max(position, published);
        yield writer.bookmark(position, false);
      }
      if (isLast) break;
      await pulse.next();
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    yield errorLine(error);
  } finally {
    pulse.stop();
  }
}

type Line = string | undefined | Promise<string | undefined>;

/** What a watch says of a change. A promise only where something has to be converted: most watches never wait. */
function changeLine(writer: EventWriter, selection: Selection, change: StoredChange): Line {
  const { entry, previous, deleted } = change;
  if (!entry.key.startsWith(selection.prefix)) return undefined;
  const was = previous !== undefined && selection.matches(previous);
  const is = !deleted && selection.matches(entry);
  if (typeof was === "boolean" && typeof is === "boolean") return lineOf(writer, change, was, is);
  return Promise.all([was, is]).then(([before, now]) => lineOf(writer, change, before, now));
}

function lineOf(writer: EventWriter, { entry, previous, deleted }: StoredChange, was: boolean, is: boolean): Line {
  if (is) return writer.entry(was ? "MODIFIED" : "ADDED", entry);
  if (!was) return undefined;
  return deleted ? writer.entry("DELETED", entry) : writer.left(previous!, entry.revision);
}

/** What wakes a watch up: a change, the time for a bookmark, its end. */
class Pulse implements OpenWatch {
  readonly user: string;
  readonly path: string;
  readonly #activity: Activity;
  readonly #stops: readonly (() => void)[];
  readonly #signal: AbortSignal | undefined;
  readonly #clock: Clock;
  readonly #bookmarks: boolean;
  readonly #limit: Timer;
  #tick: Timer | undefined;
  #bookmarkDue = false;
  #raised = false;
  #ended = false;
  #wake: (() => void) | undefined;

  constructor(call: Call, parameters: ListParameters) {
    const { store, definition, request, clock, registry, activity, user, info } = call;
    this.user = user.name;
    this.path = info.path;
    this.#activity = activity;
    activity.watches.add(this);
    this.#clock = clock;
    this.#bookmarks = parameters.allowWatchBookmarks;
    this.#signal = request.signal;
    this.#stops = [
      store.onChange(definition.storage, () => this.#raise()),
      // What is served under this name from now on is something else: clients come back for it.
      registry.onChange(definition, this.#end),
    ];
    this.#signal?.addEventListener("abort", this.#end);
    if (this.#signal?.aborted) this.#ended = true;
    const seconds = parameters.timeoutSeconds || SHORTEST_WATCH_SECONDS + clock.random.below(SHORTEST_WATCH_SECONDS);
    this.#limit = clock.after(seconds * 1000, this.#end, { background: true, label: "watch time-out" });
    this.#schedule();
  }

  get caughtUp(): boolean {
    return this.#wake !== undefined && !this.#raised;
  }

  get ended(): boolean {
    return this.#ended;
  }

  takeBookmark(): boolean {
    const due = this.#bookmarkDue;
    this.#bookmarkDue = false;
    return due;
  }

  /** Resolves at the next reason to read again; at once if there was one since the last read. */
  async next(): Promise<void> {
    if (!this.#raised && !this.#ended) await new Promise<void>((resolve) => (this.#wake = resolve));
    this.#raised = false;
    this.#wake = undefined;
  }

  stop(): void {
    this.#activity.watches.delete(this);
    this.#limit.cancel();
    this.#tick?.cancel();
    for (const stop of this.#stops) stop();
    this.#signal?.removeEventListener("abort", this.#end);
  }

  readonly #end = (): void => {
    this.#ended = true;
    this.#raise();
  };

  #schedule(): void {
    if (!this.#bookmarks) return;
    const options = { background: true, label: "watch bookmark" };
    this.#tick = this.#clock.after(
      BOOKMARK_INTERVAL,
      () => {
        this.#bookmarkDue = true;
        this.#raise();
        this.#schedule();
      },
      options,
    );
  }

  #raise(): void {
    this.#raised = true;
    this.#wake?.();
  }
}
