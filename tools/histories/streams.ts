import { type Change, type Evidence, firstAfter, idOf } from "./evidence.ts";
import { type History, type Retention, revisionOf, type Stream, type StreamEvent } from "./history.ts";

/** Applies a check to each watch. */
export function each(streams: readonly Stream[], find: (stream: Stream) => string[]): string[] {
  return streams.flatMap((stream) => {
    const { client, resource, shard, from } = stream;
    const which = `${client}: watch of ${resource}${shard === undefined ? "" : ` with shard=${shard}`} from ${from}`;
    return find(stream).map((problem) => `${which}: ${problem}`);
  });
}

/** Events that come again or after a later one, and bookmarks that go back. A bookmark also closes what is before it. */
export function disorder({ from, events }: Stream): string[] {
  let position = from;
  return events.flatMap((event) => {
    const before = position;
    const revision = revisionOf(event);
    position = Math.max(position, revision);
    const isInOrder = event.type === "BOOKMARK" ? revision >= before : revision > before;
    return isInOrder ? [] : [`${shown(event)} after ${before}`];
  });
}

/** Changes between the beginning and the last event or bookmark that were not delivered, or not as what they were. */
export function gaps(stream: Stream, evidence: Evidence): string[] {
  const to = Math.max(stream.from, ...stream.events.map(revisionOf));
  const delivered = new Map(
    stream.events.flatMap((event) => (event.type === "BOOKMARK" ? [] : [[revisionOf(event), event]])),
  );
  const changes = evidence.byResource.get(stream.resource) ?? [];
  return changes.slice(firstAfter(changes, stream.from), firstAfter(changes, to)).flatMap((change) => {
    const expected = expectedType(stream, change, evidence);
    if (expected === undefined) return [];
    const event = delivered.get(change.revision);
    if (isAs(event, expected, change)) return [];
    return [
      `${event ? shown(event) : "nothing"} in place of ${expected} ${idOf(change.version)} at ${change.revision}, before ${to}`,
    ];
  });
}

type Expected = "ADDED" | "MODIFIED" | "DELETED" | "?" | "nothing";

function isAs(event: StreamEvent | undefined, expected: Expected, { version }: Change): boolean {
  if (expected === "nothing" || event === undefined || event.type === "BOOKMARK")
    return expected === "nothing" && !event;
  const isType = expected === "?" ? event.type !== "DELETED" : event.type === expected;
  return isType && idOf(event.version) === idOf(version);
}

/** The event that a change must be delivered as. `?` is any event that is no deletion, undefined is anything. */
function expectedType({ resource, shard }: Stream, change: Change, evidence: Evidence): Expected | undefined {
  const isSelected = (version = change.version) => shard === undefined || version.shard === shard;
  // A deletion has the labels of what was deleted.
  if (change.isDeletion) return isSelected() ? "DELETED" : "nothing";
  const all = evidence.changes.get(idOf(change.version))!;
  const before = all[firstAfter(all, change.revision) - 2];
  // An unobserved write may have happened in between.
  const isCertain = evidence.isCovered(resource, before?.revision, change.revision);
  if (!isCertain) return shard === undefined ? "?" : undefined;
  const existed = before !== undefined && !before.isDeletion && before.version.uid === change.version.uid;
  const wasIn = existed && isSelected(before.version);
  if (isSelected()) return wasIn ? "MODIFIED" : "ADDED";
  return wasIn ? "DELETED" : "nothing";
}

/** Events of writes that no client has requested, or that come before the request. */
export function invented(history: History): (stream: Stream) => string[] {
  const requests = new Map<string, { id: string; called: number; isRefused: boolean }>();
  const deletions = new Map<string, number>();
  for (const operation of history.operations) {
    const { action, result, called } = operation;
    const id = idOf(operation);
    const isRefused = !["stored", "deleted", "unknown"].includes(result.is);
    if ("value" in action) requests.set(action.value, { id, called, isRefused });
    if (action.verb === "delete" && !isRefused) deletions.set(id, Math.min(called, deletions.get(id) ?? called));
  }
  return ({ events, shard }) =>
    events.flatMap((event) => {
      if (event.type === "BOOKMARK") return [];
      const { version, at } = event;
      const request = requests.get(version.value);
      const isRequested =
        request !== undefined && request.id === idOf(version) && !request.isRefused && request.called < at;
      // With a selector, DELETED also means that the label has changed.
      const isDeleted = event.type === "DELETED" && shard === undefined;
      return isRequested && (!isDeleted || (deletions.get(request.id) ?? at) < at)
        ? []
        : [`${shown(event)} was not requested`];
    });
}

/**
 * Answers 410 although the server has promised to keep what came after the revision. What came first after it may be a write that
 * no client has observed, of a controller for instance: it is as old as the last observed write before it, at most.
 */
export function expiredTooSoon(history: History, evidence: Evidence, retention: Retention): string[] {
  const writes = history.operations
    .flatMap(({ called, result }) => (result.is === "stored" ? [{ called, revision: result.version.revision }] : []))
    .sort((a, b) => a.revision - b.revision);
  const newest = Math.max(0, ...[...evidence.byResource.values()].map((changes) => changes.at(-1)?.revision ?? 0));
  return history.expirations.flatMap(({ client, what, resource, revision, at }) => {
    if (history.compactions.some((compaction) => compaction.at < at && compaction.revision >= revision)) return [];
    const since = writes.findLast((write) => write.revision <= revision)?.called ?? Number.NEGATIVE_INFINITY;
    const isForgotten = history.restarts.some(
      (restart) => restart < at && since < restart + retention.forgottenByRestart,
    );
    const age = at - since;
    if (isForgotten || age >= retention.ms || newest - revision >= retention.changes) return [];
    const until = `the newest revision until less than ${(age / 1000).toFixed(1)} s before`;
    return [`${client}: 410 for a ${what} of ${resource} at ${revision}, which was ${until}`];
  });
}

function shown(event: StreamEvent): string {
  if (event.type === "BOOKMARK") return `BOOKMARK at ${event.revision}`;
  return `${event.type} ${idOf(event.version)} ${event.version.value} at ${event.version.revision}`;
}
