import type { AnyObject, JsonObject } from "@konverge/core";
import { isObject } from "@konverge/core";

/** Objects, or fields of objects, in which runs may differ. */
export interface IgnoredPart {
  /** Default: all kinds. */
  readonly kind?: string;
  /** A name in which `*` stands for anything. Default: all names. */
  readonly name?: string;
  /** Paths such as `status.message`. Default: the whole object. */
  readonly fields?: readonly string[];
}

/** The objects without what is ignored. */
export function withoutIgnored(objects: readonly AnyObject[], ignored: readonly IgnoredPart[]): AnyObject[] {
  return objects.flatMap((object) => {
    let left: AnyObject | undefined = object;
    for (const part of ignored) {
      if (!left || !concerns(part, object)) continue;
      left = part.fields ? part.fields.reduce(withoutField, left) : undefined;
    }
    return left ? [left] : [];
  });
}

function concerns({ kind, name = "*" }: IgnoredPart, object: AnyObject): boolean {
  if (kind !== undefined && kind !== object.kind) return false;
  const pattern = name.split("*").map((text) => text.replace(/[.+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${pattern.join(".*")}$`).test(object.metadata.name);
}

function withoutField(object: AnyObject, path: string): AnyObject {
  return without(object as unknown as JsonObject, path.split(".")) as unknown as AnyObject;
}

/** A list on the way means each of its items. */
function without(value: unknown, path: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => without(item, path));
  const [first, ...rest] = path;
  if (!isObject(value) || first === undefined || !(first in value)) return value;
  const { [first]: inner, ...others } = value as JsonObject;
  return rest.length === 0 ? others : { ...value, [first]: without(inner, rest) };
}
