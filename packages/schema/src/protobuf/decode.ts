import { type JsonObject, MAX_JSON_DEPTH, type Schema } from "@konverge/core";
import { put } from "../json-value.ts";
import { customMessage } from "./custom-messages.ts";
import { type Field, type Inlined, type MessageType, messageTypeOf, type ValueType } from "./message-type.ts";
import { BYTES, FIXED32, FIXED64, malformed, VARINT, type WireReader } from "./wire.ts";

/**
 * Reads a message into the JSON that Go would write for the struct it carries: zero values are left out where the field
 * says omitempty and are spelled out elsewhere, whether or not the wire had them.
 */
export function decodeMessage(reader: WireReader, schema: Schema, depth = 0): JsonObject {
  return readMessage(reader, messageTypeOf(schema), depth);
}

/**
 * The JSON of Go's zero value of a struct: what a create starts from. Structs that are no pointers are there, and so are
 * nulls and zeros of fields without omitempty.
 */
export function zeroObject(schema: Schema): JsonObject {
  return asGoWrites(messageTypeOf(schema), new Map());
}

function readMessage(reader: WireReader, type: MessageType, depth: number): JsonObject {
  // Each message is at least one level of the JSON that it becomes.
  if (depth > MAX_JSON_DEPTH) throw malformed("exceeded max depth");
  const values = new Map<Field, unknown>();
  readFields(reader, type.fields, values, depth);
  return asGoWrites(type, values);
}

function readFields(
  reader: WireReader,
  fields: ReadonlyMap<number, Field | Inlined>,
  values: Map<Field, unknown>,
  depth: number,
): void {
  while (!reader.done) {
    const { field: number, wire } = reader.tag();
    const field = fields.get(number);
    if (!field) {
      reader.skip(wire);
    } else if ("inlined" in field) {
      expectWire(wire, BYTES, String(number));
      readFields(reader.message(), field.inlined, values, depth);
    } else {
      values.set(field, readValue(reader, wire, field, values.get(field), depth));
    }
  }
}

/** Reads one occurrence of a field; lists and maps collect theirs. */
function readValue(reader: WireReader, wire: number, field: Field, before: unknown, depth: number): unknown {
  const { value: type, name } = field;
  if (type.form === "list") {
    const list = (before as unknown[] | undefined) ?? [];
    readItem(reader, wire, type.item, name, depth, list);
    return list;
  }
  if (type.form === "map") {
    const map = (before as JsonObject | undefined) ?? {};
    expectWire(wire, BYTES, name);
    readEntry(reader.message(), type.item, name, depth, map);
    return map;
  }
  return readSingle(reader, wire, type, name, depth);
}

/** Numbers may come packed, many in one value. */
function readItem(
  reader: WireReader,
  wire: number,
  type: ValueType,
  name: string,
  depth: number,
  list: unknown[],
): void {
  const own = wireOf(type);
  if (wire !== BYTES || own === BYTES) {
    list.push(readSingle(reader, wire, type, name, depth));
    return;
  }
  const packed = reader.message();
  while (!packed.done) list.push(readSingle(packed, own, type, name, depth));
}

function readEntry(reader: WireReader, type: ValueType, name: string, depth: number, map: JsonObject): void {
  let key = "";
  let value: unknown;
  while (!reader.done) {
    const { field, wire } = reader.tag();
    if (field === 1) {
      expectWire(wire, BYTES, name);
      key = reader.text();
    } else if (field === 2) value = readSingle(reader, wire, type, name, depth);
    else reader.skip(wire);
  }
  const missing = type.form === "bytes" ? "" : zeroOf(type);
  put(map, key, value === undefined ? missing : value);
}

function readSingle(reader: WireReader, wire: number, type: ValueType, name: string, depth: number): unknown {
  if (type.form === "double" && wire === FIXED32) return reader.float();
  expectWire(wire, wireOf(type), name);
  switch (type.form) {
    case "string":
      return reader.text();
    case "bool":
      return reader.uint() !== 0;
    case "int32":
      return Number(BigInt.asIntN(32, BigInt(reader.int())));
    case "int64":
      return reader.int();
    case "double":
      return reader.double();
    case "bytes":
      return reader.bytes().toString("base64");
    case "message":
      return readMessage(reader.message(), type.message, depth + 1);
    case "custom":
      return customMessage(type.name).read(reader.message(), (nested, schema) =>
        decodeMessage(nested, schema, depth + 2),
      );
    case "items":
      return readItems(reader.message(), type.item, name, depth);
    default:
      throw malformed(`proto: ${name} holds lists of lists`);
  }
}

function readItems(reader: WireReader, item: ValueType, name: string, depth: number): unknown[] {
  const list: unknown[] = [];
  while (!reader.done) {
    const { field, wire } = reader.tag();
    if (field === 1) readItem(reader, wire, item, name, depth, list);
    else reader.skip(wire);
  }
  return list;
}

/** How a value of this type is laid out. */
export function wireOf(type: ValueType): number {
  switch (type.form) {
    case "bool":
    case "int32":
    case "int64":
      return VARINT;
    case "double":
      return FIXED64;
    default:
      return BYTES;
  }
}

function expectWire(wire: number, expected: number, name: string): void {
  if (wire !== expected) throw malformed(`proto: wrong wireType = ${wire} for field ${name}`);
}

function asGoWrites(type: MessageType, values: ReadonlyMap<Field, unknown>): JsonObject {
  const object: JsonObject = {};
  for (const field of type.inOrder) {
    const { name, value: valueType, pointer, omitEmpty, omitZero } = field;
    let value = values.get(field);
    if (value === undefined) {
      if (pointer ? omitEmpty : omitZero) continue;
      value = pointer ? null : zeroOf(valueType);
    } else if (omitZero && value === null) {
      continue;
    }
    if (omitEmpty && !pointer && isEmptyInGo(valueType, value)) continue;
    put(object, name, value);
  }
  return object;
}

/** What omitempty leaves out: never a struct. */
function isEmptyInGo(type: ValueType, value: unknown): boolean {
  switch (type.form) {
    case "message":
    case "custom":
      return false;
    case "list":
    case "items":
    case "map":
      return value === null || (Array.isArray(value) && value.length === 0);
    default:
      return value === "" || value === 0 || value === false || value === null;
  }
}

/** The JSON of a zero value. */
function zeroOf(type: ValueType): unknown {
  switch (type.form) {
    case "string":
      return "";
    case "bool":
      return false;
    case "int32":
    case "int64":
    case "double":
      return 0;
    case "message":
      return asGoWrites(type.message, new Map());
    case "custom":
      return customMessage(type.name).zero;
    default:
      return null;
  }
}
