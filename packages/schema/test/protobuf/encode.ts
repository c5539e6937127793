import { gvkOf, isObject, type JsonObject, type Schema } from "@konverge/core";
import { builtinSchema } from "@konverge/kinds";
import { own } from "../../src/json-value.ts";
import { customMessage } from "../../src/protobuf/custom-messages.ts";
import { wireOf } from "../../src/protobuf/decode.ts";
import { type Envelope, MAGIC } from "../../src/protobuf/envelope.ts";
import { type Field, type Inlined, messageTypeOf, type ValueType } from "../../src/protobuf/message-type.ts";
import { BYTES } from "../../src/protobuf/wire.ts";
import { customWriters } from "./custom-writers.ts";
import { WireWriter } from "./wire-writer.ts";

/** A body of media type `application/vnd.kubernetes.protobuf`, as typed Go clients send it. */
export function encodeProtobuf(object: JsonObject): Buffer {
  const { apiVersion, kind } = object as { apiVersion: string; kind: string };
  const { group, version } = gvkOf({ apiVersion, kind });
  return sealEnvelope({ apiVersion, kind, raw: encodeMessage(object, builtinSchema(group, version, kind)) });
}

/** Puts an object's bytes into an envelope. */
export function sealEnvelope({ apiVersion, kind, raw }: Envelope): Buffer {
  const typeMeta = new WireWriter();
  typeMeta.tag(1, BYTES);
  typeMeta.text(apiVersion);
  typeMeta.tag(2, BYTES);
  typeMeta.text(kind);
  const writer = new WireWriter();
  writer.tag(1, BYTES);
  writer.bytes(typeMeta.finish());
  writer.tag(2, BYTES);
  writer.bytes(raw);
  for (const empty of [3, 4]) {
    writer.tag(empty, BYTES);
    writer.text("");
  }
  return Buffer.concat([MAGIC, writer.finish()]);
}

/**
 * Writes an object of a built-in kind as Go's generated code does: fields by number, fields that are no pointers always,
 * entries of maps by key.
 */
function encodeMessage(object: JsonObject, schema: Schema): Buffer {
  return encodeFields(object, messageTypeOf(schema).fields);
}

function encodeFields(object: JsonObject, fields: ReadonlyMap<number, Field | Inlined>): Buffer {
  const writer = new WireWriter();
  for (const [number, field] of [...fields].sort(([a], [b]) => a - b)) {
    if ("inlined" in field) {
      writer.tag(number, BYTES);
      writer.bytes(encodeFields(object, field.inlined));
    } else {
      encodeField(writer, field, own(object, field.name));
    }
  }
  return writer.finish();
}

function encodeField(writer: WireWriter, { number, value: type, pointer }: Field, value: unknown): void {
  const isNothing = value === undefined || value === null;
  if (type.form === "list") {
    for (const item of isNothing ? [] : (value as unknown[])) encodeValue(writer, number, type.item, item);
  } else if (type.form === "map") {
    const map = (value ?? {}) as JsonObject;
    for (const key of Object.keys(map).sort()) {
      const entry = new WireWriter();
      entry.tag(1, BYTES);
      entry.text(key);
      encodeValue(entry, 2, type.item, map[key]);
      writer.tag(number, BYTES);
      writer.bytes(entry.finish());
    }
  } else if (!isNothing || !(pointer || type.form === "bytes" || type.form === "items")) {
    encodeValue(writer, number, type, value);
  }
}

function encodeValue(writer: WireWriter, number: number, type: ValueType, value: unknown): void {
  writer.tag(number, wireOf(type));
  switch (type.form) {
    case "string":
      writer.text((value as string) ?? "");
      break;
    case "bool":
      writer.int(value ? 1 : 0);
      break;
    case "int32":
    case "int64":
      writer.int((value as number | bigint) ?? 0);
      break;
    case "double":
      writer.double((value as number) ?? 0);
      break;
    case "bytes":
      writer.bytes(Buffer.from((value as string) ?? "", "base64"));
      break;
    case "message":
      writer.bytes(encodeFields(isObject(value) ? value : {}, type.message.fields));
      break;
    case "custom": {
      const given = value === undefined ? customMessage(type.name).zero : value;
      writer.bytes(customWriters[type.name]!(given, (nested, schema) => encodeMessage(nested as JsonObject, schema)));
      break;
    }
    case "items": {
      const items = new WireWriter();
      for (const item of (value as unknown[]) ?? []) encodeValue(items, 1, type.item, item);
      writer.bytes(items.finish());
      break;
    }
    default:
      throw new Error("protobuf has no lists of lists");
  }
}
