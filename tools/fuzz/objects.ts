import { readFileSync } from "node:fs";
import { apiVersionOf, type GroupVersionKind, isObject, type Random, type Schema } from "@konverge/core";
import { type BuiltinResource, builtinSchema } from "@konverge/kinds";
import { parseYaml } from "@konverge/schema";
import { damaged, hostileValue } from "./hostile-values.ts";

/** The least that a server takes of each kind, as the differential suite has it. */
const least = parseYaml(readFileSync(new URL("../differential/matrix.yaml", import.meta.url), "utf8"))[0] as Record<
  string,
  Record<string, unknown>
>;

/** Names of objects: few, so that requests meet what others have made. */
export const NAMES = ["fuzz-a", "fuzz-b", "fuzz-c", "running", "default", "things.fuzz.example.com"];

/** What a request is about. */
export interface Subject {
  readonly resource: BuiltinResource;
  /** Of what is sent: a subresource can have another than its resource. */
  readonly kind: GroupVersionKind;
  readonly name: string;
}

/** An object for a request: one that a server takes, one with something hostile in it, or one drawn from the kind's schema. */
export function objectFor(random: Random, { resource, kind, name }: Subject): unknown {
  const head = {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    metadata: { name: random.below(10) === 0 ? random.pick(NAMES) : name, labels: { fuzz: "yes" } },
  };
  const { group, plural, version } = resource;
  const key = group === "" ? plural : `${plural}.${group}`;
  const body = least[key] ?? least[`${plural}.${version}.${group}`];
  const choice = random.below(12);
  if (choice === 0) return hostileValue(random);
  if (!body || choice < 4) return { ...head, ...(drawn(random, schemaOf(kind), 0) as object) };
  const { $name: _, $anyName: __, $events: ___, ...rest } = body;
  const object = JSON.parse(JSON.stringify({ ...head, ...rest }).replaceAll("$ns", "fuzz")) as unknown;
  if (choice < 8) return object;
  return random.below(3) === 0 ? damaged(random, damaged(random, object)) : damaged(random, object);
}

function schemaOf({ group, version, kind }: GroupVersionKind): Schema {
  try {
    return builtinSchema(group, version, kind);
  } catch {
    return { type: "object" };
  }
}

/** A value of about the form that a schema has. */
export function drawn(random: Random, schema: Schema | undefined, depth: number): unknown {
  if (!schema || random.below(12) === 0) return hostileValue(random, depth);
  const { type, properties, items, additionalProperties } = schema;
  if (type === "array") {
    if (depth > 8) return [];
    return Array.from({ length: random.below(3) }, () => drawn(random, items as Schema | undefined, depth + 1));
  }
  if (type === "integer" || type === "number")
    return random.below(3) === 0 ? hostileValue(random, 4) : random.below(100);
  if (type === "boolean") return random.below(2) === 0;
  if (type === "string") {
    const { enum: allowed } = schema;
    return allowed && random.below(4) > 0 ? random.pick(allowed) : hostileValue(random, 4);
  }
  if (isObject(properties)) {
    const fields = Object.keys(properties).filter((name) => name !== "apiVersion" && name !== "kind");
    const most = depth === 0 ? fields.length : Math.min(fields.length, depth > 6 ? 1 : 4);
    const chosen = fields.filter(() => random.below(Math.max(fields.length, 1)) < most);
    const entries = chosen.map((name) => [name, drawn(random, properties[name] as Schema, depth + 1)]);
    return Object.fromEntries(entries) as object;
  }
  if (isObject(additionalProperties)) return { key: drawn(random, additionalProperties as Schema, depth + 1) };
  return hostileValue(random, depth + 1);
}
