import {
  apiVersionOf,
  badRequest,
  type GroupVersionKind,
  isObject,
  type JsonObject,
  type ManagedFieldsEntry,
  type Schema,
  timestamp,
} from "@konverge/core";
import { isEmpty as isEmptyObject } from "../json-value.ts";
import { internal } from "../patch/refusals.ts";
import { zeroObject } from "../protobuf/decode.ts";
import { capManagers } from "./cap-managers.ts";
import { ApplyConflicts, conflictError } from "./conflicts.ts";
import { difference, EMPTY, equals, type FieldSet, fromPaths, isEmpty, union } from "./field-set.ts";
import { ItemError } from "./item-element.ts";
import { fieldsLastApplied, withLastApplied } from "./last-applied.ts";
import { decodeManagers, encodeManagers, type ManagerInfo, type Managers, managerId } from "./managers.ts";
import { objectTypeOf } from "./merge-type.ts";
import type { Typed } from "./typed.ts";
import { type FieldFilter, type KindVersion, Updater } from "./updater.ts";
import { problemText, typeProblems } from "./validate.ts";

export interface FieldManagerOptions {
  /** The kind and version in which objects are written. */
  kind: GroupVersionKind;
  schema: Schema;
  clock: { now(): number };
  /** When writes come through a subresource: `status`, `scale` … */
  subresource?: string;
  /** By apiVersion, what writes through this endpoint can never own: `excludeFields(["f:status"])`. */
  resetFields?: Readonly<Record<string, FieldFilter>>;
  /** Fields of the whole object that {@link resetFields} takes out, so that there is no need to compare them. */
  ignored?: readonly string[];
  /** Other versions of the kind. Ownership recorded in a version that is not found is forgotten. */
  version?: (apiVersion: string) => KindVersion | undefined;
  /** What a create is compared with, if it is not Go's zero value (nothing, for custom resources). */
  empty?: JsonObject;
}

/** Fields that every object has and no manager owns. */
const NOT_OWNED = fromPaths(
  ["f:apiVersion"],
  ["f:kind"],
  ["f:metadata"],
  ...[
    "name",
    "namespace",
    "creationTimestamp",
    "selfLink",
    "uid",
    "clusterName",
    "generation",
    "managedFields",
    "resourceVersion",
  ].map((name) => ["f:metadata", `f:${name}`]),
);

/** A set as it is recorded for a manager: without what no manager owns. */
export function ownable(set: FieldSet): FieldSet {
  return difference(set, NOT_OWNED);
}

/**
 * Keeps `metadata.managedFields` of one kind's objects, as they are written through one endpoint.
 *
 * Objects go in and come out as they are stored and served; none is changed in place, and results share all they can
 * with what went in.
 */
export class FieldManager {
  readonly #kind: GroupVersionKind;
  readonly #apiVersion: string;
  readonly #schema: Schema;
  readonly #clock: { now(): number };
  readonly #subresource: string | undefined;
  readonly #version: NonNullable<FieldManagerOptions["version"]>;
  readonly #empty: JsonObject;
  readonly #ignored: readonly string[];
  readonly #updater: Updater;

  constructor({ kind, schema, clock, subresource, resetFields, ignored, version, empty }: FieldManagerOptions) {
    this.#kind = kind;
    this.#apiVersion = apiVersionOf(kind);
    this.#schema = schema;
    this.#clock = clock;
    this.#subresource = subresource || undefined;
    this.#version = version ?? (() => undefined);
    this.#ignored = ignored ?? [];
    this.#empty = { ...(empty ?? zeroObject(schema)), apiVersion: this.#apiVersion, kind: kind.kind };
    this.#updater = new Updater({ convert: (typed, to) => this.#convert(typed, to), filters: resetFields ?? {} });
  }

  /**
   * `next` with the managedFields it has after `manager` wrote it over `live` (undefined: a create) by any verb but
   * apply. Clients may set managedFields themselves, and drop them by sending `[{}]` or `[]`.
   */
  update(live: JsonObject | undefined, next: JsonObject, manager: string): JsonObject {
    try {
      const before = this.#managersFor(live, next);
      // What is compared in other versions must be whole.
      const isAlike = [...before.values()].every(({ apiVersion }) => apiVersion === this.#apiVersion);
      const managers = this.#update(live, next, before, manager, isAlike ? this.#ignored : []);
      return withManagedFields(next, encodeManagers(managers));
    } catch (error) {
      // A write must not fail because its fields cannot be distinguished: no manager owns them then.
      if (error instanceof ItemError || error instanceof MisfitError) return withManagedFields(next, undefined);
      throw error;
    }
  }

  /**
   * Server-side apply: `live` (undefined: a create) with `applied` laid over it, less what this manager applied before
   * and no longer does, and with its new managedFields. Throws 409 with a cause per field when that would change what
   * others own, unless forced.
   */
  apply(live: JsonObject | undefined, applied: JsonObject, manager: string, { force = false } = {}): JsonObject {
    this.#checkApplied(applied);
    try {
      const { object, managers } = this.#applyAsKubectl(live, applied, manager, force);
      const synced = manager === "kubectl" ? withLastApplied(object, applied) : object;
      return withManagedFields(synced, encodeManagers(managers));
    } catch (error) {
      if (error instanceof ApplyConflicts) throw conflictError(error);
      if (error instanceof MisfitError) throw internal(error.message);
      if (error instanceof ItemError) throw internal(`failed to merge config: ${error.message}`);
      throw error;
    }
  }

  #checkApplied(applied: JsonObject): void {
    const { apiVersion = "", kind = "", metadata } = applied;
    if (apiVersion !== this.#apiVersion || kind !== this.#kind.kind) {
      throw badRequest(`invalid object type: ${kindText(String(apiVersion), String(kind))}`);
    }
    if (isObject(metadata) && Array.isArray(metadata["managedFields"])) {
      throw badRequest("metadata.managedFields must be nil");
    }
    const problems = typeProblems(objectTypeOf(this.#schema), applied);
    if (problems.length > 0) {
      const subject = `${nameText(applied)}; ${kindText(this.#apiVersion, this.#kind.kind)}`;
      throw internal(`failed to create typed patch object (${subject}): ${problemText(problems)}`);
    }
  }

  /**
   * A user who moves from client-side to server-side apply with kubectl must not conflict with themselves: what the
   * last-applied annotation has, and no client has changed since, they can own.
   */
  #applyAsKubectl(live: JsonObject | undefined, applied: JsonObject, manager: string, force: boolean) {
    try {
      return this.#apply(live, applied, manager, force);
    } catch (error) {
      if (!(error instanceof ApplyConflicts) || manager !== "kubectl" || !live) throw error;
      const allowed = fieldsLastApplied(this.#typed(live));
      if (!allowed) throw error;
      if (!isEmpty(difference(error.toSet(), allowed))) throw error.except(allowed);
      return this.#apply(live, applied, manager, true);
    }
  }

  #apply(live: JsonObject | undefined, applied: JsonObject, manager: string, force: boolean) {
    const current = withManagedFields(live ?? { apiVersion: this.#apiVersion, kind: this.#kind.kind }, undefined);
    let before = this.#decodeLive(live);
    // Fields of an object that was never tracked must belong to a manager, or the first apply could not conflict.
    if (before.size === 0 && live) before = this.#take(this.#empty, current, before, "before-first-apply");
    const who = this.#whoIs(manager, "Apply");
    const id = managerId(who);
    const { object, managers } = this.#updater.apply(this.#typed(current), this.#typed(applied), before, who, force);
    const mine = managers.get(id);
    const set = mine ? ownable(mine.set) : EMPTY;
    if (!mine || isEmpty(set)) {
      managers.delete(id);
    } else {
      const last = before.get(id);
      const same = last && last.apiVersion === mine.apiVersion && equals(last.set, set);
      const owned = same ? last : { ...mine, set };
      managers.set(id, object ? { ...owned, time: this.#now() } : owned);
    }
    return { object: object ?? current, managers };
  }

  /** Only live managedFields count in an apply, and they must make sense. */
  #decodeLive(live: JsonObject | undefined): Managers {
    try {
      return decodeManagers(managedFieldsOf(live));
    } catch (error) {
      throw internal(`failed to decode managed fields: ${(error as Error).message}`);
    }
  }

  /** The managers before an update: those the client sent, or the live ones if it sent none that make sense. */
  #managersFor(live: JsonObject | undefined, next: JsonObject): Managers {
    const sent = managedFieldsOf(next);
    if (this.#subresource === undefined) {
      if (isReset(sent)) return new Map();
      const managers = decodedOrNone(sent);
      if (managers.size > 0) return managers;
    }
    return decodedOrNone(managedFieldsOf(live));
  }

  #update(
    live: JsonObject | undefined,
    next: JsonObject,
    managers: Managers,
    manager: string,
    ignored: readonly string[],
  ): Managers {
    if (managers.size === 0 && live && uidOf(live)) return managers;
    return this.#take(hiding(live ?? this.#empty, ignored), hiding(next, ignored), managers, manager);
  }

  /** Gives `manager` all that differs between two objects. */
  #take(live: JsonObject, next: JsonObject, before: Managers, manager: string): Managers {
    const { managers, mine } = this.#updater.update(this.#typed(live), this.#typed(next), before);
    const set = ownable(mine);
    if (!isEmpty(set)) {
      const who = this.#whoIs(manager, "Update");
      const id = managerId(who);
      const previous = managers.get(id)?.set;
      managers.set(id, {
        manager: who.manager,
        subresource: who.subresource,
        set: previous ? union(set, previous) : set,
        apiVersion: this.#apiVersion,
        applied: false,
        time: this.#now(),
      });
    }
    capManagers(managers);
    return managers;
  }

  #whoIs(name: string, operation: "Apply" | "Update"): ManagerInfo {
    const manager = name === "" ? "unknown" : name;
    return { manager, operation, apiVersion: this.#apiVersion, subresource: this.#subresource };
  }

  #now(): string {
    return timestamp(this.#clock);
  }

  #typed(object: JsonObject): Typed {
    return { object, type: objectTypeOf(this.#schema), apiVersion: this.#apiVersion };
  }

  #convert(typed: Typed, apiVersion: string): Typed | undefined {
    if (typed.apiVersion === apiVersion) return typed;
    if (apiVersion === this.#apiVersion) {
      return converted(this.#toOwn(typed.object), this.#schema, apiVersion);
    }
    const version = this.#version(apiVersion);
    return version && converted(version.convert(typed.object), version.schema, apiVersion);
  }

  #toOwn(object: JsonObject): JsonObject {
    const version = this.#version(this.#apiVersion);
    if (!version) throw new Error(`the "version" option knows no way back to ${this.#apiVersion}`);
    return version.convert(object);
  }
}

/** An object that, converted, does not fit its schema. */
class MisfitError extends Error {}

/** As the API server, we are stricter with converted objects than with those in their own version: no duplicates. */
function converted(object: JsonObject, schema: Schema, apiVersion: string): Typed {
  const type = objectTypeOf(schema);
  const problems = typeProblems(type, object);
  if (problems.length > 0) throw new MisfitError(problemText(problems));
  return { object, type, apiVersion };
}

function managedFieldsOf(object: JsonObject | undefined): ManagedFieldsEntry[] | undefined {
  const metadata = object?.["metadata"];
  const entries = isObject(metadata) ? metadata["managedFields"] : undefined;
  return Array.isArray(entries) ? entries : undefined;
}

function withManagedFields(object: JsonObject, entries: ManagedFieldsEntry[] | undefined): JsonObject {
  const metadata = isObject(object["metadata"]) ? object["metadata"] : undefined;
  if (entries) return { ...object, metadata: { ...metadata, managedFields: entries } };
  if (metadata?.["managedFields"] === undefined) return object;
  const { managedFields: _, ...others } = metadata;
  return { ...object, metadata: others };
}

/**
 * An object without managedFields and what else is ignored, for comparisons: to these a field that is undefined is none,
 * and copying without it takes several times as long.
 */
function hiding(object: JsonObject, ignored: readonly string[]): JsonObject {
  const metadata = isObject(object["metadata"]) ? object["metadata"] : undefined;
  const hasOwners = metadata?.["managedFields"] !== undefined;
  if (!hasOwners && ignored.length === 0) return object;
  const copy: JsonObject = { ...object };
  if (hasOwners) copy["metadata"] = { ...metadata, managedFields: undefined };
  for (const name of ignored) copy[name] = undefined;
  return copy;
}

function isReset(entries: ManagedFieldsEntry[] | undefined): boolean {
  if (!entries) return false;
  return entries.length === 0 || (entries.length === 1 && isEmptyObject(entries[0] as JsonObject));
}

function decodedOrNone(entries: ManagedFieldsEntry[] | undefined): Managers {
  try {
    return decodeManagers(entries);
  } catch {
    return new Map();
  }
}

function uidOf(object: JsonObject): string {
  const { metadata } = object;
  return isObject(metadata) && typeof metadata["uid"] === "string" ? metadata["uid"] : "";
}

function nameText(object: JsonObject): string {
  const metadata = isObject(object["metadata"]) ? object["metadata"] : {};
  return `${metadata["namespace"] ?? ""}/${metadata["name"] ?? ""}`;
}

/** `apps/v1, Kind=Deployment`, and `/v1, Kind=Pod` for the core group. */
function kindText(apiVersion: string, kind: string): string {
  return `${apiVersion.includes("/") ? apiVersion : `/${apiVersion}`}, Kind=${kind}`;
}
