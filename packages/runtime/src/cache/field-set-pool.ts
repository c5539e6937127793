import type { FieldsV1, KubeObject, ManagedFieldsEntry } from "@konverge/core";
import { isOwnManager } from "./own-managers.ts";

/**
 * What our field managers have applied to an object: all that is kept of managedFields. A field that we applied once and
 * no longer want is nowhere else to be seen. Owner references are left out: they name the owner's uid, so that hardly two
 * objects would share a field set, and they are compared by value.
 */
export type OwnFields = readonly OwnEntry[];

interface OwnEntry {
  readonly manager: string;
  /** `""` for the object itself. */
  readonly subresource: string;
  readonly fields: FieldsV1;
}

/** The fields that `manager` has applied, by way of a subresource or (`""`) to the object itself. */
export function fieldsOf(own: OwnFields | undefined, manager: string, subresource = ""): FieldsV1 | undefined {
  return own?.find((entry) => entry.manager === manager && entry.subresource === subresource)?.fields;
}

interface Pooled {
  readonly text: string;
  readonly own: OwnFields;
  users: number;
}

/** Field sets, kept once for all objects that share them: children of the same kind mostly do. */
export class FieldSetPool {
  readonly #pool = new Map<string, Pooled>();
  readonly #byFields = new WeakMap<OwnFields, Pooled>();

  get size(): number {
    return this.#pool.size;
  }

  /** What `managers` have applied to the object. Each take needs its {@link release}. */
  take(object: KubeObject, managers: ReadonlySet<string>): OwnFields | undefined {
    const entries = object.metadata.managedFields?.filter((entry) => isOwn(entry, managers));
    if (!entries || entries.length === 0) return undefined;
    const own = entries.map(({ manager, subresource = "", fieldsV1 }) => ({
      manager: manager!,
      subresource,
      fields: withoutOwners(fieldsV1!),
    }));
    const text = JSON.stringify(own);
    let pooled = this.#pool.get(text);
    if (!pooled) {
      pooled = { text, own, users: 0 };
      this.#pool.set(text, pooled);
      this.#byFields.set(own, pooled);
    }
    pooled.users++;
    return pooled.own;
  }

  release(own: OwnFields | undefined): void {
    const pooled = own && this.#byFields.get(own);
    if (pooled && --pooled.users === 0) this.#pool.delete(pooled.text);
  }
}

function isOwn(entry: ManagedFieldsEntry, managers: ReadonlySet<string>): boolean {
  return entry.operation === "Apply" && entry.fieldsV1 !== undefined && isOwnManager(entry.manager ?? "", managers);
}

function withoutOwners(fields: FieldsV1): FieldsV1 {
  const metadata = fields["f:metadata"];
  if (!metadata?.["f:ownerReferences"]) return fields;
  const { "f:ownerReferences": _, ...kept } = metadata;
  const { "f:metadata": __, ...rest } = fields;
  return Object.keys(kept).length > 0 ? { ...rest, "f:metadata": kept } : rest;
}
