import type { Schema } from "@konverge/core";

/** A message, from the schema of the struct that it carries. */
export interface MessageType {
  /** By number. A message that JSON inlines has its fields under its own number. */
  readonly fields: ReadonlyMap<number, Field | Inlined>;
  /** All fields, in the order in which JSON has them. */
  readonly inOrder: readonly Field[];
}

export interface Inlined {
  readonly inlined: ReadonlyMap<number, Field | Inlined>;
}

/** A field of a struct, as protobuf and as JSON carry it. */
export interface Field {
  readonly name: string;
  readonly number: number;
  readonly value: ValueType;
  /** A pointer distinguishes a zero from nothing; other fields are always there. */
  readonly pointer: boolean;
  readonly omitEmpty: boolean;
  readonly omitZero: boolean;
}

export type ValueType =
  | { form: "string" | "bool" | "int32" | "int64" | "double" | "bytes" }
  | { form: "message"; readonly message: MessageType }
  /** A struct whose JSON is not that of its fields, by the name of its Go type. */
  | { form: "custom"; name: string }
  | { form: "list"; readonly item: ValueType }
  /** A list in a separate message. */
  | { form: "items"; readonly item: ValueType }
  | { form: "map"; readonly item: ValueType };

const messageTypes = new WeakMap<Schema, MessageType>();

/** The message that carries structs of this schema, which must be that of a built-in kind or a part of one. */
export function messageTypeOf(schema: Schema): MessageType {
  let type = messageTypes.get(schema);
  if (!type) {
    type = build(schema);
    messageTypes.set(schema, type);
  }
  return type;
}

function build(schema: Schema): MessageType {
  const fields = new Map<number, Field | Inlined>();
  const inOrder: Field[] = [];
  const properties = schema.properties ?? {};
  for (const name of Object.keys(properties)) {
    const property = properties[name]!;
    const { go } = property;
    // What has no number (apiVersion and kind) travels in the envelope.
    if (!go?.proto) continue;
    const field: Field = {
      name,
      number: go.proto.field,
      value: valueTypeOf(property),
      pointer: go.pointer ?? false,
      omitEmpty: go.omitEmpty ?? false,
      omitZero: go.omitZero ?? false,
    };
    inOrder.push(field);
    inlinedAt(fields, go.proto.within ?? []).set(field.number, field);
  }
  return { fields, inOrder };
}

function inlinedAt(fields: Map<number, Field | Inlined>, within: readonly number[]): Map<number, Field | Inlined> {
  let at = fields;
  for (const number of within) {
    let next = at.get(number);
    if (!next || !("inlined" in next)) {
      next = { inlined: new Map() };
      at.set(number, next);
    }
    at = next.inlined as Map<number, Field | Inlined>;
  }
  return at;
}

function valueTypeOf(schema: Schema): ValueType {
  const message = schema.go?.message;
  if (schema.type === "array") {
    const item = valueTypeOf(schema.items!);
    return message === "Items" ? { form: "items", item } : { form: "list", item };
  }
  if (message) return { form: "custom", name: message };
  switch (schema.type) {
    case "string":
      return { form: schema.format === "byte" ? "bytes" : "string" };
    case "boolean":
      return { form: "bool" };
    case "integer":
      return { form: schema.format === "int32" ? "int32" : "int64" };
    case "number":
      return { form: "double" };
  }
  if (typeof schema.additionalProperties === "object") {
    return { form: "map", item: valueTypeOf(schema.additionalProperties) };
  }
  return {
    form: "message",
    // Structs contain themselves: their types are made when first needed.
    get message() {
      return messageTypeOf(schema);
    },
  };
}
