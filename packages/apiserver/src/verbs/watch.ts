import { type AnyObject, type ApiError, type ApiResponse, apiVersionOf, expired, stringifyJson } from "@konverge/core";
import { isTrue } from "../http/request-info.ts";
import type { Change, Entry } from "../storage/collection.ts";
import { type Call, objectOf } from "./call.ts";
import { type Selection, selectionOf } from "./selectors.ts";

/** How often a quiet watch says how far it has come. */
const BOOKMARK_INTERVAL = 60_000;

/**
 * Streams the changes after a revision, or with sendInitialEvents first everything there is.
 *
 * Guarantees: every change that concerns the selection, once, in order. A change that brings an object into the selection
 * is ADDED, one that takes it out is DELETED with the object's last selected state. A watcher whose position has been
 * compacted away is told with an ERROR event (410) and ended.
 */
export function watch(call: Call): ApiResponse {
  const { query } = call.info;
  const selection = selectionOf(call);
  const start = startOf(call);
  const controller = new AbortController();
  const signal = call.request.signal ? AbortSignal.any([call.request.signal, controller.signal]) : controller.signal;
  const seconds = Number(query.get("timeoutSeconds") ?? 0) || 1800 + call.clock.random.below(1800);
  const limit = call.clock.after(seconds * 1000, () => controller.abort(), {
    background: true,
    label: "watch time-out",
  });
  return {
    status: 200,
    headers: { "content-type": "application/json" },
    body: stream(call, selection, start, signal, () => limit.cancel()),
  };
}

interface Start {
  readonly revision: number;
  /** Send what exists at that revision first, as ADDED events. */
  readonly initial: boolean;
  /** Mark the end of the initial events with a bookmark. */
  readonly marked: boolean;
}

function startOf(call: Call): Start {
  const { query } = call.info;
  const given = query.get("resourceVersion");
  const published = call.store.published;
  const sendInitialEvents = query.get("sendInitialEvents");
  if (sendInitialEvents !== null) {
    const initial = isTrue(sendInitialEvents);
    return { revision: initial ? published : Number(given || published), initial, marked: initial };
  }
  if (!given || given === "0") return { revision: published, initial: true, marked: false };
  return { revision: Number(given), initial: false, marked: false };
}

async function* stream(
  call: Call,
  selection: Selection,
  start: Start,
  signal: AbortSignal,
  done: () => void,
): AsyncGenerator<string> {
  const { store, definition } = call;
  const bookmarks = isTrue(call.info.query.get("allowWatchBookmarks"));
  let position = start.revision;
  let bookmarkDue = false;
  const wakeUp = new Signal();
  const stopListening = store.onChange(definition.storage, () => wakeUp.raise());
  const onAbort = () => wakeUp.raise();
  signal.addEventListener("abort", onAbort);
  const tick = () => {
    bookmarkDue = true;
    wakeUp.raise();
    timer = call.clock.after(BOOKMARK_INTERVAL, tick, { background: true, label: "watch bookmark" });
  };
  let timer = call.clock.after(BOOKMARK_INTERVAL, tick, { background: true, label: "watch bookmark" });
  try {
    if (start.initial) {
      const state = store.collection(definition.storage).at(position);
      for (const entry of state?.scan(selection.prefix) ?? []) {
        if (selection.matches(entry)) yield await eventLine(call, "ADDED", entry);
      }
      if (start.marked && bookmarks) yield bookmarkLine(call, position, true);
    }
    while (!signal.aborted) {
      const changes = position > store.published ? [] : store.collection(definition.storage).changesAfter(position);
      if (!changes) {
        yield errorLine(expired(`too old resource version: ${position} (${store.published})`));
        return;
      }
      for (const change of changes) {
        if (change.revision > store.published) break;
        const line = await changeLine(call, selection, change);
        position = change.revision;
        if (line) yield line;
      }
      if (bookmarkDue && bookmarks) {
        bookmarkDue = false;
        position = Math.max(position, store.published);
        yield bookmarkLine(call, position, false);
      }
      await wakeUp.wait();
    }
  } finally {
    timer.cancel();
    done();
    stopListening();
    signal.removeEventListener("abort", onAbort);
  }
}

/** A flag that can be awaited; raising it while nobody waits is remembered. */
class Signal {
  #raised = false;
  #resolve: (() => void) | undefined;

  raise(): void {
    this.#raised = true;
    this.#resolve?.();
  }

  async wait(): Promise<void> {
    if (!this.#raised) await new Promise<void>((resolve) => (this.#resolve = resolve));
    this.#raised = false;
    this.#resolve = undefined;
  }
}

async function changeLine(call: Call, selection: Selection, change: Change): Promise<string | undefined> {
  const { entry, previous, deleted } = change;
  if (!entry.key.startsWith(selection.prefix)) return undefined;
  const was = previous !== undefined && selection.matches(previous);
  const is = !deleted && selection.matches(entry);
  if (is) return eventLine(call, was ? "MODIFIED" : "ADDED", entry);
  if (!was) return undefined;
  if (deleted) return eventLine(call, "DELETED", entry);
  // It left the selection: the last state that was in it, at the revision at which it left.
  const object = objectOf(previous);
  object.metadata.resourceVersion = String(entry.revision);
  return objectLine(call, "DELETED", object);
}

/** Lines are shared between watchers of the same version: the text of an event is put together once. */
const lines = new WeakMap<Entry, Map<string, string>>();

function eventLine(call: Call, type: string, entry: Entry): string | Promise<string> {
  if (call.version.version !== call.definition.storageVersion) return objectLine(call, type, objectOf(entry));
  let ofEntry = lines.get(entry);
  if (!ofEntry) {
    ofEntry = new Map();
    lines.set(entry, ofEntry);
  }
  let line = ofEntry.get(type);
  if (!line) {
    line = `{"type":"${type}","object":${entry.text}}\n`;
    ofEntry.set(type, line);
  }
  return line;
}

async function objectLine(call: Call, type: string, object: AnyObject): Promise<string> {
  const [converted] = await call.definition.convert([object], call.version.version);
  return `{"type":"${type}","object":${stringifyJson(converted)}}\n`;
}

function bookmarkLine(call: Call, revision: number, initialEventsEnd: boolean): string {
  const metadata = {
    resourceVersion: String(revision),
    creationTimestamp: null,
    ...(initialEventsEnd && { annotations: { "k8s.io/initial-events-end": "true" } }),
  };
  const apiVersion = apiVersionOf({ group: call.definition.group, version: call.version.version });
  return `{"type":"BOOKMARK","object":${stringifyJson({ kind: call.version.kind, apiVersion, metadata })}}\n`;
}

function errorLine(error: ApiError): string {
  return `{"type":"ERROR","object":${stringifyJson(error.status)}}\n`;
}
