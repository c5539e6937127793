import {
  type FieldRequirement,
  groupKindText,
  type KindRef,
  type KubeObject,
  matchesFields,
  matchesLabels,
  parseFieldSelector,
  parseLabelSelector,
  type Schema,
  valueAt,
} from "@konverge/core";
import { schemaOf } from "../schema-of.ts";

/** Which objects of a kind are watched. */
export interface WatchScope {
  /** Undefined: all namespaces. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** Whether an object is in scope; undefined where only the server can tell. */
export type Selection = (object: KubeObject) => boolean | undefined;

/**
 * What a watch of that scope would show. Throws if a selector cannot be understood: a server would refuse it at every
 * attempt.
 */
export function selectionOf(
  kind: KindRef<KubeObject>,
  { namespace, labelSelector, fieldSelector }: WatchScope,
): Selection {
  const byLabel = parsed(kind, "labelSelector", labelSelector, parseLabelSelector);
  const byField = parsed(kind, "fieldSelector", fieldSelector, parseFieldSelector);
  return (object) => {
    const { metadata } = object;
    if (namespace !== undefined && metadata.namespace !== namespace) return false;
    if (byLabel.length > 0 && !matchesLabels(byLabel, metadata.labels)) return false;
    let verdict: boolean | undefined = true;
    for (const requirement of byField) {
      const text = textOf(kind, object, requirement);
      if (text === undefined) verdict = undefined;
      else if (!matchesFields([requirement], { [requirement.field]: text })) return false;
    }
    return verdict;
  };
}

function parsed<R>(
  kind: KindRef<KubeObject>,
  what: "labelSelector" | "fieldSelector",
  text: string | undefined,
  parse: (text: string) => R[],
): R[] {
  try {
    return parse(text ?? "");
  } catch (cause) {
    const message = `the ${what} ${JSON.stringify(text)} of ${groupKindText(kind)} cannot be parsed`;
    throw new TypeError(`${message}: ${(cause as Error).message}`, { cause });
  }
}

/** A field as servers compare it. Some that can be selected by are not simply what the object says in that place. */
function textOf(kind: KindRef<KubeObject>, object: KubeObject, { field }: FieldRequirement): string | undefined {
  const names = field.split(".");
  const value = valueAt(object, names);
  if (typeof value === "object" && value !== null) return undefined;
  if (value !== undefined && value !== null) return String(value);
  if (names[0] === "metadata") return "";
  // Of an object of which only the metadata is known.
  if (object.kind !== kind.kind) return undefined;
  return textOfAbsent(schemaOf(kind), names);
}

/** Custom resources lack a field that is not there; built-in kinds have the zero of its type. */
function textOfAbsent(schema: Schema | undefined, names: readonly string[]): string | undefined {
  if (!schema) return "";
  let field: Schema | undefined = schema;
  for (const name of names) field = field?.properties?.[name];
  if (!field || field.type === "object" || field.type === "array") return undefined;
  if (!field.go || field.type === "string") return "";
  return field.type === "boolean" ? "false" : "0";
}
