/** What the results of mutating policies say to do: an apply configuration, or a JSON patch. */
import { quoted } from "@konverge/core";
import type { JsonPatchOperation as JsonPatch } from "../../patch/json-patch.ts";
import { NotJson, toJson } from "../values/to-json.ts";
import { CelList, CelMap, type Value } from "../values/values.ts";
import { DynamicObject, JsonPatchOperation } from "./dynamic-objects.ts";

/** A change, or why the result of an expression is none. */
export type Mutation<T> = { readonly change: T; readonly error?: undefined } | { readonly error: string };

/** The apply configuration that an expression of type `Object` gave; kind and apiVersion are not in it. */
export function applyConfigurationOf(value: Value): Mutation<Record<string, unknown>> {
  if (!(value instanceof DynamicObject)) return { error: "ApplyConfiguration expression should evaluate to Object" };
  const mismatch = typeMismatch(value);
  if (mismatch !== undefined) return { error: mismatch };
  return convert(() => toJson(value, (int) => int) as Record<string, unknown>);
}

/** The operations that an expression of type `list(JSONPatch)` gave. */
export function jsonPatchOf(value: Value): Mutation<JsonPatch[]> {
  if (!(value instanceof CelList)) return { error: "type mismatch: JSONPatchType.expression should evaluate to array" };
  const operations: JsonPatch[] = [];
  for (const item of value) {
    if (!(item instanceof JsonPatchOperation))
      return { error: "type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch" };
    // Unknown operations are rejected when the patch is applied.
    const operation: JsonPatch = { op: item.op as JsonPatch["op"], path: item.path };
    if (item.from !== "") operation.from = item.from;
    if (item.value !== undefined) {
      const mismatch = item.value instanceof DynamicObject ? typeMismatch(item.value) : undefined;
      if (mismatch !== undefined) return { error: mismatch };
      // Numbers that a double cannot hold are written as text, which is what protobuf makes of them in JSON.
      const converted = convert(() => toJson(item.value!, String));
      if (converted.error !== undefined) {
        const why = "JSONPath valueExpression evaluated to a type that could not marshal to JSON";
        return { error: `${why}: ${converted.error}` };
      }
      operation.value = converted.change;
    }
    operations.push(operation);
  }
  return { change: operations };
}

/** The types of objects within objects have to be called like the fields they stand in. */
function typeMismatch(value: DynamicObject): string | undefined {
  const found = [...mismatches(value, value.typeName)];
  return found.length > 0 ? `type mismatch: ${found.join("\n")}` : undefined;
}

function* mismatches(value: Value, expected: string): Generator<string> {
  if (value instanceof DynamicObject) {
    if (value.typeName !== expected) {
      const names = `unexpected type name ${quoted(value.typeName)}, expected ${quoted(expected)}`;
      yield `${names}, which matches field name path from root Object type`;
    }
    for (const [name, field] of value.fields) yield* mismatches(field, `${expected}.${name}`);
  } else if (value instanceof CelList) for (const item of value) yield* mismatches(item, expected);
  else if (value instanceof CelMap)
    for (const key of value.keys()) yield* mismatches(value.find(key) ?? null, expected);
}

function convert<T>(make: () => T): Mutation<T> {
  try {
    return { change: make() };
  } catch (error) {
    if (error instanceof NotJson) return { error: error.message };
    throw error;
  }
}
