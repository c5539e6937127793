import { isObject, parseDuration, type Schema, stringifyJson } from "@konverge/core";
import { definitionSchema } from "@konverge/kinds";
import { VARINT } from "../../src/protobuf/wire.ts";
import { WireWriter } from "./wire-writer.ts";

/** Writes a struct whose JSON is not that of its fields. */
export type CustomWriter = (value: unknown, nested: NestedWriter) => Uint8Array;
/** Writes a message of a schema, for structs that hold others. */
export type NestedWriter = (value: unknown, schema: Schema) => Uint8Array;

function written(write: (writer: WireWriter) => void): Uint8Array {
  const writer = new WireWriter();
  write(writer);
  return writer.finish();
}

const jsonSchema = () => definitionSchema("apiextensions.v1.JSONSchemaProps");

const quantity: CustomWriter = (value) =>
  written((writer) => {
    writer.tag(1, 2);
    writer.text(String(value));
  });

const intOrString: CustomWriter = (value) =>
  written((writer) => {
    const isText = typeof value === "string";
    writer.tag(1, VARINT);
    writer.int(isText ? 1 : 0);
    writer.tag(2, VARINT);
    writer.int(isText ? 0 : (value as number));
    writer.tag(3, 2);
    writer.text(isText ? value : "");
  });

const duration: CustomWriter = (value) =>
  written((writer) => {
    writer.tag(1, VARINT);
    writer.int(parseDuration(String(value)));
  });

const rawJson: CustomWriter = (value) =>
  written((writer) => {
    if (value === null || value === undefined) return;
    writer.tag(1, 2);
    writer.text(stringifyJson(value));
  });

const schemaOrBool: CustomWriter = (value, nested) =>
  written((writer) => {
    writer.tag(1, VARINT);
    writer.int(value === false ? 0 : 1);
    if (!isObject(value)) return;
    writer.tag(2, 2);
    writer.bytes(nested(value, jsonSchema()));
  });

const schemaOrSchemas: CustomWriter = (value, nested) =>
  written((writer) => {
    for (const schema of Array.isArray(value) ? value : [value]) {
      writer.tag(Array.isArray(value) ? 2 : 1, 2);
      writer.bytes(nested(schema, jsonSchema()));
    }
  });

const schemaOrStrings: CustomWriter = (value, nested) =>
  written((writer) => {
    if (isObject(value)) {
      writer.tag(1, 2);
      writer.bytes(nested(value, jsonSchema()));
    }
    for (const name of Array.isArray(value) ? value : []) {
      writer.tag(2, 2);
      writer.text(String(name));
    }
  });

/** The zero time is an empty message, and null in JSON. */
const time: CustomWriter = (value) => {
  if (typeof value !== "string") return Buffer.alloc(0);
  const milliseconds = Date.parse(value.replace(/(\.\d{3})\d*/, "$1"));
  const fraction = /\.(\d+)/.exec(value)?.[1] ?? "";
  return written((writer) => {
    writer.tag(1, VARINT);
    writer.int(Math.floor(milliseconds / 1000));
    writer.tag(2, VARINT);
    writer.int(Number(fraction.padEnd(9, "0").slice(0, 9)));
  });
};

/** By the name that the facts give them. */
export const customWriters: Readonly<Record<string, CustomWriter>> = {
  Quantity: quantity,
  IntOrString: intOrString,
  Time: time,
  MicroTime: time,
  Duration: duration,
  RawExtension: rawJson,
  FieldsV1: rawJson,
  JSON: rawJson,
  JSONSchemaPropsOrBool: schemaOrBool,
  JSONSchemaPropsOrArray: schemaOrSchemas,
  JSONSchemaPropsOrStringArray: schemaOrStrings,
};
