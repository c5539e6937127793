import type { StoredChange } from "./entry.ts";

/**
 * The recent changes of one collection, oldest first. Forks share one array of changes: it only ever grows at its end, and
 * each side knows how far its own part of it goes; a side that appends where another has already appended copies it
 * first.
 */
export class ChangeLog {
  #changes: StoredChange[] = [];
  #end = 0;
  /** Of the changes up to and including this revision some may be missing here; of later ones none is. */
  #origin: number;

  constructor(origin: number) {
    this.#origin = origin;
  }

  fork(): ChangeLog {
    const fork = new ChangeLog(this.#origin);
    fork.#changes = this.#changes;
    fork.#end = this.#end;
    return fork;
  }

  append(change: StoredChange): void {
    if (this.#changes.length !== this.#end) this.#changes = this.#changes.slice(0, this.#end);
    this.#changes.push(change);
    this.#end++;
  }

  /** Takes the newest change away again. */
  pop(): StoredChange | undefined {
    if (this.#end === 0) return undefined;
    this.#end--;
    return this.#changes[this.#end];
  }

  /** The changes after a revision, or undefined when some of them have been dropped. */
  after(revision: number): readonly StoredChange[] | undefined {
    if (revision < this.#origin) return undefined;
    if (this.#end === 0 || this.#changes[this.#end - 1]!.revision <= revision) return [];
    return this.#changes.slice(
      this.#first((change) => change.revision > revision),
      this.#end,
    );
  }

  /** The newest revision that was made before `time`; 0 when there is none. */
  newestBefore(time: number): number {
    const kept = this.#first((change) => change.at >= time);
    return kept > 0 ? this.#changes[kept - 1]!.revision : 0;
  }

  /** Drops the changes up to and including a revision. */
  drop(revision: number): void {
    const kept = this.#first((change) => change.revision > revision);
    if (kept === 0) return;
    this.#origin = this.#changes[kept - 1]!.revision;
    this.#changes = this.#changes.slice(kept, this.#end);
    this.#end = this.#changes.length;
  }

  /** The index of the first change of which something holds that, once it does, holds for all later ones. */
  #first(holds: (change: StoredChange) => boolean): number {
    let low = 0;
    let high = this.#end;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (holds(this.#changes[middle]!)) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
