import type { ApiServer } from "@konverge/apiserver";
import { type Clock, sleep, splitKey, VirtualClock } from "@konverge/core";
import { foregroundOf } from "./timed-work.ts";

/** When a cluster counts as idle. Durations are in milliseconds of the cluster's clock. */
export interface SettledOptions {
  /** How long nothing but heartbeats must have been written. Default: three minutes; a second in real time. */
  idlePeriod?: number;
  /** How long to wait. Default: an hour; a minute in real time. */
  timeout?: number;
}

/** The cluster does not become idle. The message names the components that are still busy, and what they do. */
export class NotSettledError extends Error {
  override readonly name = "NotSettledError";
  /** A line for each reason. */
  readonly reasons: readonly string[];

  constructor(what: string, reasons: readonly string[]) {
    super([what, ...reasons].join("\n  "));
    this.reasons = reasons;
  }
}

const VIRTUAL = { idlePeriod: 3 * 60_000, timeout: 3_600_000 };
const REAL = { idlePeriod: 1_000, timeout: 60_000 };
/** How many timers fire between two checks that the clock still advances. */
const CHUNK = 5_000;
/** An object that changes this often while the clock stands still is in an endless loop. */
const STORM = 500;
/** How many chunks may run while the clock stands still: many objects with one change each are no loop. */
const MOST_CHUNKS = 2_000;
const SHOWN = 8;
/** Calls that wait for the cluster to become idle do not keep it busy. */
const WAITING = "settled";
const EVENTS = "/events";
const HEARTBEATS = new Set(["coordination.k8s.io/leases"]);

/**
 * Resolves when a cluster is idle: no request is under way, every watcher has all events, nothing waits for
 * anything but background timers (those marked as background: leases, resyncs, schedules), and for some time nothing has been
 * written but heartbeats. Otherwise it throws and names what still works.
 *
 * On a virtual clock it moves the time itself; on a real one it waits.
 */
export async function settled(server: ApiServer, clock: Clock, options: SettledOptions = {}): Promise<void> {
  const { idlePeriod, timeout } = { ...(clock instanceof VirtualClock ? VIRTUAL : REAL), ...options };
  const end = clock.monotonic() + timeout;
  const slice = clock instanceof VirtualClock ? idlePeriod : Math.max(1, idlePeriod / 20);
  let since = clock.monotonic();
  let { revision } = server.store;
  for (;;) {
    await (clock instanceof VirtualClock ? passVirtual(clock, slice, server) : sleep(clock, slice, { label: WAITING }));
    const [busy, written] = [busyWith(server, clock), changedSince(server, revision)];
    if (busy.length === 0 && written.size === 0) {
      if (clock.monotonic() - since >= idlePeriod) return;
    } else {
      if (clock.monotonic() >= end) {
        const reasons = [...busy, ...changeLines(server, written)];
        throw new NotSettledError(`the cluster is not idle after ${seconds(timeout)}:`, reasons);
      }
      since = clock.monotonic();
      ({ revision } = server.store);
    }
  }
}

/** Lets time pass, unless it stands still because something never stops. */
async function passVirtual(clock: VirtualClock, ms: number, server: ApiServer): Promise<void> {
  const until = clock.monotonic() + ms;
  let stood = clock.monotonic();
  let { revision } = server.store;
  for (let chunks = 0; !(await clock.advanceAtMost(until - clock.monotonic(), CHUNK)); ) {
    if (clock.monotonic() > stood) {
      chunks = 0;
      stood = clock.monotonic();
      ({ revision } = server.store);
      continue;
    }
    const written = changedSince(server, revision);
    const storms = new Map([...written].filter(([, { count }]) => count > STORM));
    if (storms.size === 0 && ++chunks < MOST_CHUNKS) continue;
    const reasons = [...changeLines(server, storms.size > 0 ? storms : written), ...busyWith(server, clock)];
    throw new NotSettledError(
      "the cluster never becomes idle: it keeps working while the clock stands still:",
      reasons,
    );
  }
}

/** The components that are busy, or wait for a timer. */
function busyWith({ activity }: ApiServer, clock: Clock): string[] {
  const now = clock.monotonic();
  const requests = Array.from(
    activity.underway,
    ({ user, verb, path }) => `${user} waits for the answer to ${verb} ${path}`,
  );
  const watches = [...activity.watches]
    .filter(({ caughtUp }) => !caughtUp)
    .map(({ user, path }) => `${user} has not taken all that the watch of ${path} has for it`);
  const timers = foregroundOf(clock)
    .filter(({ label }) => label !== WAITING)
    .map(({ label, due }) => (due > now ? `${label} (in ${seconds(due - now)})` : `${label} (now)`));
  return [requests, watches, timers].flatMap(shortened);
}

interface Written {
  count: number;
  readonly resource: string;
  readonly key: string;
}

/** The objects that have changed after a revision, heartbeats aside, and how often. */
function changedSince({ store }: ApiServer, revision: number): Map<string, Written> {
  const written = new Map<string, Written>();
  if (store.revision === revision) return written;
  for (const resource of store.resources()) {
    if (HEARTBEATS.has(resource)) continue;
    for (const { key, deleted } of store.collection(resource).changesAfter(revision) ?? [{ key: "", deleted: false }]) {
      // Events expire.
      if (deleted && resource === EVENTS) continue;
      const known = written.get(`${resource} ${key}`);
      if (known) known.count++;
      else written.set(`${resource} ${key}`, { count: 1, resource, key });
    }
  }
  return written;
}

function changeLines({ activity }: ApiServer, written: ReadonlyMap<string, Written>): string[] {
  const lines = [...written.values()]
    .sort((a, b) => b.count - a.count)
    .map(({ resource, key, count }) => {
      const { namespace = "", name } = splitKey(key);
      const writer = activity.lastWriter(resource.slice(resource.indexOf("/") + 1), namespace, name);
      const times = count === 1 ? "was written" : `was written ${count} times`;
      return `${resource} ${key} ${times}${writer ? `, last by ${writer}` : ""}`;
    });
  return shortened(lines);
}

function shortened(lines: readonly string[]): string[] {
  return lines.length > SHOWN ? [...lines.slice(0, SHOWN), `and ${lines.length - SHOWN} more`] : [...lines];
}

const seconds = (ms: number) => `${Math.round(ms / 100) / 10} s`;
