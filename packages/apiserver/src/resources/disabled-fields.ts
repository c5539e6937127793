import type { KubernetesFacts } from "@konverge/kinds";
import type { WorkingObject } from "../codec/working-object.ts";
import type { Strategy } from "./definition.ts";

/** Where the fields are in the objects of a definition. */
interface Place {
  /** Fields that are not stored: by name, what is written to say that an object uses one. */
  readonly disabled: ReadonlyMap<string, string>;
  readonly below: ReadonlyMap<string, Place>;
}

type Visit = (parent: Record<string, unknown>, field: string, use: string) => void;

/**
 * Fields whose feature gate is off are dropped from what clients write, without a word, unless the stored object has them
 * already: an API server does so to be able to go back to an earlier version.
 */
export function withoutDisabledFields(strategy: Strategy, definition: string, facts: KubernetesFacts): Strategy {
  let found: { place: Place | undefined } | undefined;
  // Looked up with the first write: most kinds of a server are never written.
  const drop = (object: WorkingObject, old?: WorkingObject) => {
    found ??= { place: placeOf(definition, facts, new Set()) };
    if (found.place) dropFrom(found.place, object, old);
  };
  return {
    ...strategy,
    prepareForCreate(object, context) {
      drop(object);
      strategy.prepareForCreate?.(object, context);
    },
    prepareForUpdate(object, old, context) {
      drop(object, old);
      strategy.prepareForUpdate?.(object, old, context);
    },
  };
}

function dropFrom(place: Place, object: WorkingObject, old?: WorkingObject): void {
  const used = new Set<string>();
  if (old) visit(place, old, (_parent, _field, use) => used.add(use));
  visit(place, object, (parent, field, use) => {
    if (!used.has(use)) delete parent[field];
  });
}

function visit(place: Place, value: unknown, found: Visit): void {
  if (Array.isArray(value)) {
    for (const item of value) visit(place, item, found);
    return;
  }
  if (typeof value !== "object" || value === null) return;
  const record = value as Record<string, unknown>;
  for (const [field, use] of place.disabled) if (record[field] !== undefined) found(record, field, use);
  for (const [field, below] of place.below) if (record[field] !== undefined) visit(below, record[field], found);
}

/** Undefined where there is no such field. A definition within itself adds nothing. */
function placeOf(name: string, facts: KubernetesFacts, within: Set<string>): Place | undefined {
  const fields = within.has(name) ? undefined : facts.definition(name)?.fields;
  if (!fields) return undefined;
  within.add(name);
  const disabled = new Map([...facts.disabledFields(name).keys()].map((field) => [field, `${name}.${field}`]));
  const below = new Map<string, Place>();
  const file = name.slice(0, name.lastIndexOf("."));
  for (const [field, [type]] of Object.entries(fields)) {
    // The values of maps are not looked into: no disabled field is in one.
    const element = /^(?:items)?(?:\[\])*([A-Z]\w*|[a-z]\w*\..+)$/.exec(type)?.[1];
    if (!element) continue;
    const place = placeOf(element.includes(".") ? element : `${file}.${element}`, facts, within);
    if (place) below.set(field, place);
  }
  within.delete(name);
  return disabled.size > 0 || below.size > 0 ? { disabled, below } : undefined;
}
