import type { AnyObject, FieldsV1 } from "@konverge/core";

/** A field of an object that a manager owns: where it is in this very object, as a JSON pointer, and its value. */
export interface OwnedField {
  readonly pointer: string;
  readonly value: unknown;
}

/** Fields that tell who an object is and how its life ends: whoever changes them changes something else. */
const IDENTITY = /^\/metadata\/(name|namespace|uid|ownerReferences|finalizers)\b/;

/** All single values of an object that its manager has applied, and the items of lists that it has put there. */
export function ownedFields(object: AnyObject, manager: string): OwnedField[] {
  const entries = (object.metadata.managedFields ?? []).filter((entry) => {
    return entry.manager === manager && entry.operation === "Apply" && !entry.subresource;
  });
  const found = entries.flatMap(({ fieldsV1 = {} }) => [...leaves(fieldsV1, object, "")]);
  return found.filter(({ pointer }) => !IDENTITY.test(pointer));
}

function* leaves(fields: FieldsV1, value: unknown, pointer: string): Generator<OwnedField> {
  const paths = Object.keys(fields).filter((path) => path !== ".");
  if (paths.length === 0) {
    if (value !== undefined) yield { pointer, value };
    return;
  }
  for (const path of paths) {
    const step = stepOf(path, value);
    if (step === undefined) continue;
    const inner = (value as Record<string | number, unknown>)[step];
    const where = `${pointer}/${escaped(String(step))}`;
    if (path.startsWith("k:")) yield { pointer: where, value: inner };
    yield* leaves(fields[path]!, inner, where);
  }
}

/** The name or the index that a path of a field set means in this value. */
function stepOf(path: string, value: unknown): string | number | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const name = path.slice(2);
  if (path.startsWith("f:")) return name;
  if (!Array.isArray(value)) return undefined;
  const wanted: unknown = JSON.parse(name);
  const at = value.findIndex((item: unknown) => {
    if (path.startsWith("v:")) return item === wanted;
    return Object.entries(wanted as object).every(([key, is]) => (item as Record<string, unknown>)[key] === is);
  });
  return at < 0 ? undefined : at;
}

const escaped = (step: string) => step.replaceAll("~", "~0").replaceAll("/", "~1");

/** Another value of the same sort, as somebody might write it by hand. */
export function edited(value: unknown): unknown {
  if (typeof value === "number") return value + 1;
  if (typeof value === "boolean") return !value;
  if (typeof value === "string") return /^\d+$/.test(value) ? `${Number(value) + 1}` : `${value}-edited`;
  return undefined;
}
