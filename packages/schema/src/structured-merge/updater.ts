import { deepEqual, type JsonObject, type Schema } from "@konverge/core";
import { type Comparison, compare } from "./compare.ts";
import { ApplyConflicts } from "./conflicts.ts";
import { difference, type FieldSet, intersection, isEmpty, union } from "./field-set.ts";
import { type ManagerInfo, type Managers, managerId, type OwnedFields } from "./managers.ts";
import { merge } from "./merge.ts";
import { pruneUnknownFields } from "./prune.ts";
import { reconcile } from "./reconcile.ts";
import { toFieldSet } from "./to-field-set.ts";
import type { Converter, Typed } from "./typed.ts";

/** Takes fields out of a set: those that an endpoint resets, so that no manager can own them through it. */
export type FieldFilter = (set: FieldSet) => FieldSet;

export interface UpdaterOptions {
  convert: Converter;
  /** By apiVersion; none for a version that is not in it. */
  filters: Readonly<Record<string, FieldFilter>>;
}

/** Schema of a kind in one version, and how to get there. */
export interface KindVersion {
  schema: Schema;
  /** Must not change its argument. */
  convert(object: JsonObject): JsonObject;
}

/**
 * Works out who owns what after a write. The manager who writes takes every field that it changes from those who had
 * it; removed fields belong to no manager.
 */
export class Updater {
  readonly #convert: Converter;
  readonly #filters: UpdaterOptions["filters"];

  constructor({ convert, filters }: UpdaterOptions) {
    this.#convert = convert;
    this.#filters = filters;
  }

  /** Who owns what after an update has made `next` of `live`, and the fields (`mine`) that the update took. */
  update(live: Typed, next: Typed, managers: Managers): { managers: Managers; mine: FieldSet } {
    const reconciled = this.#reconcile(live, managers);
    const changes = this.#transfer(live, next, reconciled, undefined, true);
    return { managers: reconciled, mine: this.#filter(next.apiVersion, union(changes.modified, changes.added)) };
  }

  /**
   * Lays `applied` over `live` and takes away what the manager applied last time, does not apply now, and no other
   * manager owns. `object` is undefined when that changes nothing. Throws {@link ApplyConflicts} unless forced.
   */
  apply(live: Typed, applied: Typed, managers: Managers, who: ManagerInfo, force: boolean) {
    const id = managerId(who);
    const reconciled = this.#reconcile(live, managers);
    const last = reconciled.get(id);
    const set = this.#filter(applied.apiVersion, toFieldSet(applied.type, applied.object));
    const { manager, subresource, apiVersion } = who;
    const time = managers.get(id)?.time;
    reconciled.set(id, { manager, subresource, set, apiVersion, applied: true, time });
    const merged = { ...live, object: merge(live.type, live.object, applied.object) as JsonObject };
    const next = last && !isEmpty(last.set) ? pruneUnknownFields(merged, reconciled, id, last, this.#convert) : merged;
    this.#transfer(live, next, reconciled, id, force);
    const unchanged = next.object === live.object || deepEqual(next.object, live.object);
    return { object: unchanged ? undefined : next.object, managers: reconciled };
  }

  /** Entries as today's schema has them; those in a version that is no longer served are dropped. */
  #reconcile(live: Typed, managers: Managers): Managers {
    const result: Managers = new Map();
    for (const [id, owned] of managers) {
      const type = owned.apiVersion === live.apiVersion ? live.type : this.#convert(live, owned.apiVersion)?.type;
      if (type) result.set(id, withSet(owned, reconcile(type, owned.set)));
    }
    return result;
  }

  /** Takes what changed from all managers but the one who writes. */
  #transfer(live: Typed, next: Typed, managers: Managers, writer: string | undefined, force: boolean): Comparison {
    const own = this.#changes(live, next);
    const byVersion = new Map([[next.apiVersion, withTaken(own)]]);
    const conflicts = new Map<string, FieldSet>();
    const removed = new Map<string, FieldSet>();
    for (const [id, owned] of managers) {
      if (id === writer) continue;
      let changes = byVersion.get(owned.apiVersion);
      if (!changes) {
        const [before, after] = [this.#convert(live, owned.apiVersion), this.#convert(next, owned.apiVersion)];
        if (!before || !after) {
          managers.delete(id);
          continue;
        }
        changes = withTaken(this.#changes(before, after));
        byVersion.set(owned.apiVersion, changes);
      }
      const taken = intersection(owned.set, changes.taken);
      if (!isEmpty(taken)) conflicts.set(id, taken);
      if (!isEmpty(changes.removed)) removed.set(id, changes.removed);
    }
    if (!force && conflicts.size > 0) throw ApplyConflicts.of(conflicts);
    for (const sets of [conflicts, removed]) {
      for (const [id, set] of sets)
        managers.set(id, withSet(managers.get(id)!, difference(managers.get(id)!.set, set)));
    }
    for (const [id, { set }] of managers) if (isEmpty(set)) managers.delete(id);
    return own;
  }

  #changes(before: Typed, after: Typed): Comparison {
    const { added, modified, removed } = compare(before.type, before.object, after.object);
    const filter = (set: FieldSet) => this.#filter(before.apiVersion, set);
    return { added: filter(added), modified: filter(modified), removed: filter(removed) };
  }

  #filter(apiVersion: string, set: FieldSet): FieldSet {
    const filter = this.#filters[apiVersion];
    return filter && !isEmpty(set) ? filter(set) : set;
  }
}

function withTaken(changes: Comparison): Comparison & { taken: FieldSet } {
  return { ...changes, taken: union(changes.modified, changes.added) };
}

function withSet(owned: OwnedFields, set: FieldSet): OwnedFields {
  return owned.set === set ? owned : { ...owned, set };
}
