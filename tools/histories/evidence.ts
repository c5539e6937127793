import { type History, revisionOf, type Version } from "./history.ts";

/** A change of one object: what it stored, or the last state of what it deleted. */
export interface Change {
  readonly revision: number;
  readonly version: Version;
  readonly isDeletion: boolean;
}

/**
 * What all responses and events together say about each revision. A revision belongs to one change of one object, no matter
 * which client observes it: one client's observation resolves the unknown outcome of another client's lost response.
 */
export class Evidence {
  /** Of each object, ordered by revision. */
  readonly changes = new Map<string, Change[]>();
  /** Of each resource, ordered by revision. */
  readonly byResource = new Map<string, Change[]>();
  /** Values that were stored, with what they were stored as. */
  readonly byValue = new Map<string, Version>();
  /** Revisions at which objects were deleted, by uid. */
  readonly deletions = new Map<string, number>();
  readonly contradictions: string[] = [];
  readonly #byRevision = new Map<number, Change>();
  /** Of each resource, the revisions over which watches without a selector reached, joined where they overlap. */
  readonly #covered = new Map<string, [from: number, to: number][]>();

  constructor(history: History) {
    for (const { result } of history.operations) if ("version" in result) this.#add(result.version, false);
    for (const { items } of history.listings) for (const version of items) this.#add(version, false);
    for (const { events, shard } of history.streams) {
      for (const event of events) {
        if (event.type === "BOOKMARK") continue;
        // With a selector, DELETED also means that the label has changed.
        if (event.type === "DELETED" && shard !== undefined) continue;
        this.#add(event.version, event.type === "DELETED");
      }
    }
    for (const change of [...this.#byRevision.values()].sort((a, b) => a.revision - b.revision)) {
      push(this.changes, idOf(change.version), change);
      push(this.byResource, change.version.resource, change);
    }
    const unselected = history.streams.filter(({ shard }) => shard === undefined);
    for (const { resource, from, events } of unselected.sort((a, b) => a.from - b.from)) {
      const to = Math.max(from, ...events.map(revisionOf));
      const last = this.#covered.get(resource)?.at(-1);
      if (last && from <= last[1]) last[1] = Math.max(last[1], to);
      else push(this.#covered, resource, [from, to]);
    }
  }

  /** Whether watches reported everything between two revisions, and beyond the beginning if the first is undefined. */
  isCovered(resource: string, from: number | undefined, to: number): boolean {
    const covered = this.#covered.get(resource) ?? [];
    const first = from ?? covered[0]?.[0] ?? 0;
    return covered.some(([start, end]) => start <= first && first <= to && end >= to);
  }

  #add(version: Version, isDeletion: boolean): void {
    const { revision, uid, value } = version;
    const known = this.#byRevision.get(revision);
    if (!known) {
      this.#byRevision.set(revision, { revision, version, isDeletion });
      if (isDeletion) this.#noteDeletion(version);
      else this.#noteValue(version);
      return;
    }
    const isSame =
      idOf(known.version) === idOf(version) &&
      known.version.uid === uid &&
      known.version.value === value &&
      known.version.shard === version.shard &&
      known.isDeletion === isDeletion;
    if (!isSame) {
      this.contradictions.push(`revision ${revision} is ${shown(known)} and ${shown({ version, isDeletion })}`);
    }
  }

  #noteDeletion({ uid, revision, resource, name }: Version): void {
    const other = this.deletions.get(uid);
    if (other !== undefined)
      this.contradictions.push(`${resource}/${name} (${uid}) was deleted at ${other} and ${revision}`);
    this.deletions.set(uid, revision);
  }

  #noteValue(version: Version): void {
    const other = this.byValue.get(version.value);
    if (other) this.contradictions.push(`${version.value} was stored at ${other.revision} and ${version.revision}`);
    this.byValue.set(version.value, version);
  }
}

export function idOf({ resource, name }: { resource: string; name: string }): string {
  return `${resource}/${name}`;
}

/** The last change of an ordered list at or before a revision. */
export function lastUpTo(changes: readonly Change[], revision: number): Change | undefined {
  return changes[firstAfter(changes, revision) - 1];
}

/** The index of the first change after a revision. */
export function firstAfter(changes: readonly Change[], revision: number): number {
  let [low, high] = [0, changes.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (changes[middle]!.revision <= revision) low = middle + 1;
    else high = middle;
  }
  return low;
}

function shown({ version, isDeletion }: Pick<Change, "version" | "isDeletion">): string {
  return `${isDeletion ? "the deletion of " : ""}${idOf(version)} ${version.value} (${version.uid})`;
}

function push<T>(map: Map<string, T[]>, key: string, item: T): void {
  const list = map.get(key);
  if (list) list.push(item);
  else map.set(key, [item]);
}
