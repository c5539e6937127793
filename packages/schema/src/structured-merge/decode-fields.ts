import { deepFreeze, stringifyJson } from "@konverge/core";
import { type FieldSet, MEMBER, sorted } from "./field-set.ts";
import { canonicalElement } from "./path-element.ts";

/** Sets known to be in canonical form: those we made or have looked at before. */
const canonical = new WeakSet<FieldSet>();

/**
 * A field set from another client's `fieldsV1`: elements in canonical form, unknown kinds of elements dropped. Throws
 * when it is malformed.
 */
export function decodeFieldSet(fields: unknown): FieldSet {
  if (fields === undefined || fields === null) return {};
  if (typeof fields !== "object" || Array.isArray(fields)) throw new Error("fieldsV1 must be an object");
  if (canonical.has(fields as FieldSet)) return fields as FieldSet;
  return shared(decoded, fields, () => decodeChildren(fields as Record<string, unknown>, true));
}

/** The same set with its elements in the order in which the API server writes them: one that was read has it. */
export function orderedSet(set: FieldSet): FieldSet {
  return canonical.has(set) ? set : shared(ordered, set, () => sorted(set));
}

/**
 * Objects that are made alike have the same owners of the same fields, and each is read and written many times: all of
 * them share one set, about which is known what was found out once.
 */
const decoded = new Map<string, FieldSet>();
const ordered = new Map<string, FieldSet>();
const REMEMBERED_SETS = 1024;
/** The sets of very large objects are few, and would take much room. */
const LONGEST_SET = 8192;

function shared(known: Map<string, FieldSet>, fields: object, make: () => FieldSet): FieldSet {
  const text = stringifyJson(fields);
  let set = known.get(text);
  if (!set) {
    set = deepFreeze(make());
    canonical.add(set);
    if (known.size >= REMEMBERED_SETS) known.clear();
    if (text.length <= LONGEST_SET) known.set(text, set);
  }
  return set;
}

function decodeChildren(fields: Record<string, unknown>, root: boolean): FieldSet {
  let changed: Record<string, FieldSet> | undefined;
  let read = 0;
  for (const element in fields) {
    if (element === "." && !root) {
      if (changed) changed["."] = MEMBER;
      read++;
      continue;
    }
    const name = element === "." ? undefined : canonicalElement(element);
    const node = name === undefined ? undefined : decodeNode(fields[element]);
    if (!changed && (name !== element || node !== fields[element])) changed = firstEntries(fields, read);
    if (changed && node !== undefined) changed[name!] = node;
    read++;
  }
  return changed ?? (fields as FieldSet);
}

function firstEntries(fields: Record<string, unknown>, count: number): FieldSet {
  return Object.fromEntries(Object.entries(fields).slice(0, count)) as FieldSet;
}

function decodeNode(fields: unknown): FieldSet {
  if (fields === null) return MEMBER;
  if (typeof fields !== "object" || Array.isArray(fields)) throw new Error("expect { or n");
  const node = decodeChildren(fields as Record<string, unknown>, false);
  return node["."] !== undefined && Object.keys(node).length === 1 ? MEMBER : node;
}
