import { createHmac } from "node:crypto";
import { groupKindText, isObject, type JsonObject, type KindRef, type KubeObject, type Schema } from "@konverge/core";
import { schemaOf } from "../schema-of.ts";

/** Fields of a kind that must not be recorded: `{ kind: Login, fields: ["spec.token", "spec.users[].password"] }`. */
export interface RedactedFields {
  readonly kind: Pick<KindRef<KubeObject>, "group" | "kind">;
  readonly fields: readonly string[];
}

/** Shorter values than this are not looked for elsewhere: they would be found everywhere. */
const SHORTEST = 6;
/** Holds the whole object as it was applied. */
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/**
 * Takes secrets out of what one reconcile is recorded with: the values of Secrets, of fields that are marked (with the
 * format `password` in the schema, or named), and wherever else the same values occur, be it in a child, an event or an
 * error message.
 *
 * Each value has its own placeholder, the same throughout a process, so that a recording still shows which values are
 * equal. It is made with a key that is nowhere written down, so that it does not help to guess.
 */
export class Redaction {
  readonly #key: string;
  readonly #marked: ReadonlyMap<string, readonly string[]>;
  /** Values to be replaced wherever they occur, and by what. */
  readonly #found = new Map<string, string>();

  constructor(key: string, marked: ReadonlyMap<string, readonly string[]>) {
    this.#key = key;
    this.#marked = marked;
  }

  /** An object, a draft or a patch of a kind, without the secrets that its kind is known to have. */
  object<T>(kind: Pick<KindRef<KubeObject>, "group" | "version" | "kind">, value: T): T {
    if (!isObject(value)) return value;
    // Kinds that are known by a raw request alone are named by their plural.
    if (kind.group === "" && /^secrets?$/i.test(kind.kind)) return this.#secret(value) as T;
    const fields = [...passwordFields(kind), ...(this.#marked.get(groupKindText(kind)) ?? [])];
    if (fields.length === 0) return value;
    let result: JsonObject = value;
    for (const field of fields) result = this.#at(result, field.split(".")) as JsonObject;
    return withoutLastApplied(result) as T;
  }

  /** The placeholder of a value that is secret as a whole. */
  value(secret: string): string {
    return String(this.#placeholder(secret));
  }

  /** The text of a line, without the values that were found to be secret. */
  text(line: unknown, stringify: (value: unknown) => string): string {
    const values = [...this.#found].sort(([a], [b]) => b.length - a.length);
    return stringify(values.length === 0 ? line : replaced(line, values));
  }

  #secret({ data, stringData, merge, strategic, json, ...rest }: JsonObject): JsonObject {
    const inner = (value: unknown) => (isObject(value) ? this.#secret(value) : value);
    return {
      ...withoutLastApplied(rest),
      ...(data !== undefined && { data: mapped(data, (value) => this.#encoded(value)) }),
      ...(stringData !== undefined && { stringData: mapped(stringData, (value) => this.#placeholder(value)) }),
      ...(merge !== undefined && { merge: inner(merge) }),
      ...(strategic !== undefined && { strategic: inner(strategic) }),
      ...(Array.isArray(json) && { json: json.map((operation: JsonObject) => ({ ...operation, value: "redacted" })) }),
    };
  }

  #at(value: unknown, [step, ...rest]: string[]): unknown {
    if (step === undefined) return this.#placeholder(value);
    if (!isObject(value)) return value;
    const isList = step.endsWith("[]");
    const name = isList ? step.slice(0, -2) : step;
    const inner = value[name];
    if (inner === undefined) return value;
    const next = isList && Array.isArray(inner) ? inner.map((item) => this.#at(item, rest)) : this.#at(inner, rest);
    return { ...value, [name]: next };
  }

  #encoded(value: unknown): unknown {
    if (typeof value !== "string") return value;
    const plain = Buffer.from(value, "base64").toString();
    const encoded = Buffer.from(String(this.#placeholder(plain))).toString("base64");
    this.#find(value, encoded);
    return encoded;
  }

  #placeholder(value: unknown): unknown {
    if (value === undefined || value === null) return value;
    const text = typeof value === "string" ? value : JSON.stringify(value);
    if (text === "") return value;
    const name = `redacted-${createHmac("sha256", this.#key).update(text).digest("hex").slice(0, 8)}`;
    this.#find(text, name);
    return name;
  }

  #find(value: string, placeholder: string): void {
    if (value.length >= SHORTEST) this.#found.set(value, placeholder);
  }
}

/** The fields that a kind's schema marks as passwords. */
function passwordFields(kind: Pick<KindRef<KubeObject>, "group" | "version" | "kind">): string[] {
  const schema = schemaOf(kind as KindRef<KubeObject>);
  if (!schema) return [];
  let fields = FIELDS.get(schema);
  if (!fields) {
    fields = passwords(schema, "", 0);
    FIELDS.set(schema, fields);
  }
  return fields;
}

const FIELDS = new WeakMap<Schema, string[]>();
/** Schemas of built-in kinds may hold themselves. */
const DEEPEST = 12;

function passwords(schema: Schema, path: string, depth: number): string[] {
  if (schema.format === "password") return [path];
  if (depth > DEEPEST) return [];
  const below = Object.entries(schema.properties ?? {}).flatMap(([name, inner]) =>
    passwords(inner, path === "" ? name : `${path}.${name}`, depth + 1),
  );
  return schema.items ? [...below, ...passwords(schema.items, `${path}[]`, depth + 1)] : below;
}

function withoutLastApplied(value: JsonObject): JsonObject {
  const { metadata } = value;
  if (!isObject(metadata) || !isObject(metadata["annotations"])) return value;
  const { [LAST_APPLIED]: _, ...annotations } = metadata["annotations"];
  return { ...value, metadata: { ...metadata, annotations } };
}

function mapped(values: unknown, change: (value: unknown) => unknown): unknown {
  return isObject(values) ? Object.fromEntries(Object.entries(values).map(([k, v]) => [k, change(v)])) : values;
}

function replaced(value: unknown, values: readonly [string, string][]): unknown {
  if (typeof value === "string") {
    return values.reduce((text, [secret, placeholder]) => text.replaceAll(secret, placeholder), value);
  }
  if (Array.isArray(value)) return value.map((item) => replaced(item, values));
  return isObject(value) ? mapped(value, (item) => replaced(item, values)) : value;
}
