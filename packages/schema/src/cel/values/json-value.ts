/** JSON as values without the help of a schema: what policies see of objects. */
import { WholeFloat } from "@konverge/core";
import { PlainList, PlainMap } from "./collections.ts";
import type { Value } from "./values.ts";

/** A view of data: JSON, with a schema or as it is. */
export interface View {
  readonly raw: unknown;
}

/** Whether a value is a view of data. */
export function isView(value: unknown): value is View {
  return typeof value === "object" && value !== null && "raw" in value;
}

/** JSON as a value: whole numbers are ints, others doubles, objects and arrays are viewed and not copied. */
export function fromJson(json: unknown): Value {
  switch (typeof json) {
    case "string":
    case "boolean":
    case "bigint":
      return json;
    case "number":
      return Number.isInteger(json) && Math.abs(json) < 2 ** 63 ? BigInt(json) : json;
  }
  if (json === null || json === undefined) return null;
  if (Array.isArray(json)) return new JsonList(json);
  if (json instanceof WholeFloat) return json.value;
  return new JsonMap(json as Record<string, unknown>);
}

class JsonList extends PlainList implements View {
  override get goType(): string {
    return "[]interface {}";
  }
  readonly raw: readonly unknown[];
  constructor(raw: readonly unknown[]) {
    super();
    this.raw = raw;
  }
  get size(): number {
    return this.raw.length;
  }
  at(index: number): Value {
    return fromJson(this.raw[index]);
  }
}

class JsonMap extends PlainMap implements View {
  override get goType(): string {
    return "map[string]interface {}";
  }
  readonly raw: Readonly<Record<string, unknown>>;
  constructor(raw: Readonly<Record<string, unknown>>) {
    super();
    this.raw = raw;
  }
  get size(): number {
    return this.keys().length;
  }
  find(key: Value): Value | undefined {
    if (typeof key !== "string" || !Object.hasOwn(this.raw, key)) return undefined;
    const value = this.raw[key];
    return value === undefined ? undefined : fromJson(value);
  }
  keys(): string[] {
    return Object.keys(this.raw).filter((key) => this.raw[key] !== undefined);
  }
}

/** What is inside an optional, for selecting from it: a view of data loses its schema there, as in the API server. */
export function unwrapOptional(value: Value): Value {
  return isView(value) ? fromJson(value.raw) : value;
}
