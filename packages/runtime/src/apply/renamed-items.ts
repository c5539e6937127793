import { isObject, type JsonObject, type Schema } from "@konverge/core";
import { sameApplied } from "../comparison/applied-equality.ts";
import { fieldSchema } from "../comparison/stored-value.ts";

/** The way to an item of a list: names of fields, and items themselves where it leads through a list. */
export type ItemPlace = readonly (string | JsonObject)[];

/**
 * Items of a live object that are the draft's in all but their key: another client has changed the port of a Service's
 * port, or the name of a container. To a server such an item is another one, of that client, and an apply of the draft
 * puts ours beside it: two containers, or an object that is refused because two ports share a name.
 *
 * An item counts as renamed if the draft's own is missing, no other item of the draft has its key, and it holds
 * everything else that the draft says of the missing one. Lists without keys have no such items.
 */
export function renamedItems(
  desired: unknown,
  live: unknown,
  schema: Schema | undefined,
  place: ItemPlace = [],
): ItemPlace[] {
  if (!schema) return [];
  if (Array.isArray(desired) && Array.isArray(live)) return renamedIn(desired, live, schema, place);
  if (!isObject(desired) || !isObject(live)) return [];
  return Object.keys(desired).flatMap((name) =>
    renamedItems(desired[name], live[name], fieldSchema(schema, name), [...place, name]),
  );
}

function renamedIn(
  desired: readonly unknown[],
  live: readonly unknown[],
  schema: Schema,
  place: ItemPlace,
): ItemPlace[] {
  const keys = schema["x-kubernetes-list-map-keys"];
  if (schema["x-kubernetes-list-type"] !== "map" || !keys) return [];
  const wanted = desired.filter(isObject);
  const there = live.filter(isObject);
  const strangers = there.filter((item) => !wanted.some((one) => sameKey(one, item, keys, schema)));
  const found: ItemPlace[] = [];
  for (const one of wanted) {
    const known = there.find((item) => sameKey(one, item, keys, schema));
    if (known) {
      found.push(...renamedItems(one, known, schema.items, [...place, known]));
      continue;
    }
    const rest = Object.fromEntries(Object.entries(one).filter(([name]) => !keys.includes(name)));
    // An item that is nothing but its key cannot be distinguished from any other.
    if (Object.keys(rest).length === 0) continue;
    const renamed = strangers.find((item) => sameApplied(rest, item, schema.items));
    if (renamed) found.push([...place, renamed]);
  }
  return found;
}

/** Whether two items are the same to a server. A key that one of them lacks has its default. */
function sameKey(a: JsonObject, b: JsonObject, keys: readonly string[], { items }: Schema): boolean {
  return keys.every((name) => {
    const { default: fallback } = fieldSchema(items, name) ?? {};
    return (a[name] ?? fallback) === (b[name] ?? fallback);
  });
}
