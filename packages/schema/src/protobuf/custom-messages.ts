import {
  canonicalQuantity,
  formatDuration,
  parseDuration,
  parseJson,
  QuantityError,
  type Schema,
  stringifyJson,
} from "@konverge/core";
import { definitionSchema } from "@konverge/kinds";
import { isObject } from "../json-value.ts";
import { malformed, VARINT, type WireReader, WireWriter } from "./wire.ts";

/** A struct whose JSON is not that of its fields. */
export interface CustomMessage {
  read(reader: WireReader, nested: Nested): unknown;
  write(value: unknown, nested: NestedWriter): Uint8Array;
  /** The JSON of its zero value. */
  readonly zero: unknown;
}

/** Reads a message of a schema, for structs that hold others. */
export type Nested = (reader: WireReader, schema: Schema) => unknown;
export type NestedWriter = (value: unknown, schema: Schema) => Uint8Array;

/** Calls back for each field; fields that are not taken are skipped. */
function eachField(reader: WireReader, take: Record<number, () => void>): void {
  while (!reader.done) {
    const { field, wire } = reader.tag();
    const taker = take[field];
    if (taker) taker();
    else reader.skip(wire);
  }
}

function written(write: (writer: WireWriter) => void): Uint8Array {
  const writer = new WireWriter();
  write(writer);
  return writer.finish();
}

const quantity: CustomMessage = {
  zero: "0",
  read(reader) {
    let text = "0";
    eachField(reader, { 1: () => (text = reader.text()) });
    try {
      return canonicalQuantity(text);
    } catch (error) {
      if (error instanceof QuantityError) throw malformed(error.message);
      throw error;
    }
  },
  write: (value) =>
    written((writer) => {
      writer.tag(1, 2);
      writer.text(String(value));
    }),
};

const intOrString: CustomMessage = {
  zero: 0,
  read(reader) {
    let isText = false;
    let number: number | bigint = 0;
    let text = "";
    eachField(reader, {
      1: () => (isText = reader.uint() === 1),
      2: () => (number = reader.int()),
      3: () => (text = reader.text()),
    });
    return isText ? text : number;
  },
  write: (value) =>
    written((writer) => {
      const isText = typeof value === "string";
      writer.tag(1, VARINT);
      writer.int(isText ? 1 : 0);
      writer.tag(2, VARINT);
      writer.int(isText ? 0 : (value as number));
      writer.tag(3, 2);
      writer.text(isText ? value : "");
    }),
};

/** The zero time is an empty message, and null in JSON. */
function timeMessage(format: (seconds: number, nanos: number) => string): CustomMessage {
  return {
    zero: null,
    read(reader) {
      if (reader.done) return null;
      let seconds = 0;
      let nanos = 0;
      eachField(reader, {
        1: () => (seconds = Number(reader.int())),
        2: () => (nanos = Number(reader.int())),
      });
      if (Math.abs(seconds) > MAX_SECONDS) throw malformed(`${seconds} seconds since 1970 is no time`);
      return format(seconds, nanos);
    },
    write(value) {
      if (typeof value !== "string") return Buffer.alloc(0);
      const milliseconds = Date.parse(value.replace(/(\.\d{3})\d*/, "$1"));
      const fraction = /\.(\d+)/.exec(value)?.[1] ?? "";
      return written((writer) => {
        writer.tag(1, VARINT);
        writer.int(Math.floor(milliseconds / 1000));
        writer.tag(2, VARINT);
        writer.int(Number(fraction.padEnd(9, "0").slice(0, 9)));
      });
    },
  };
}

/** As far as the year 9999, which is as far as the text form goes. */
const MAX_SECONDS = 253_402_300_799;

const secondsText = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 19);

const duration: CustomMessage = {
  zero: "0s",
  read(reader) {
    let nanoseconds: number | bigint = 0;
    eachField(reader, { 1: () => (nanoseconds = reader.int()) });
    return formatDuration(BigInt(nanoseconds));
  },
  write: (value) =>
    written((writer) => {
      writer.tag(1, VARINT);
      writer.int(parseDuration(String(value)));
    }),
};

/** JSON that travels as bytes. */
const rawJson: CustomMessage = {
  zero: null,
  read(reader) {
    let raw = "";
    eachField(reader, { 1: () => (raw = reader.text()) });
    if (raw === "") return null;
    try {
      return parseJson(raw);
    } catch (error) {
      throw malformed(`the raw value is not JSON: ${(error as Error).message}`);
    }
  },
  write: (value) =>
    written((writer) => {
      if (value === null || value === undefined) return;
      writer.tag(1, 2);
      writer.text(stringifyJson(value));
    }),
};

const jsonSchema = () => definitionSchema("apiextensions.v1.JSONSchemaProps");

/** A JSON schema, or something simpler in its place. */
const schemaOrBool: CustomMessage = {
  zero: false,
  read(reader, nested) {
    let allows = false;
    let schema: unknown;
    eachField(reader, {
      1: () => (allows = reader.uint() !== 0),
      2: () => (schema = nested(reader.message(), jsonSchema())),
    });
    return schema ?? allows;
  },
  write: (value, nested) =>
    written((writer) => {
      writer.tag(1, VARINT);
      writer.int(value === false ? 0 : 1);
      if (!isObject(value)) return;
      writer.tag(2, 2);
      writer.bytes(nested(value, jsonSchema()));
    }),
};

const schemaOrSchemas: CustomMessage = {
  zero: null,
  read(reader, nested) {
    let schema: unknown = null;
    const schemas: unknown[] = [];
    eachField(reader, {
      1: () => (schema = nested(reader.message(), jsonSchema())),
      2: () => schemas.push(nested(reader.message(), jsonSchema())),
    });
    return schemas.length > 0 ? schemas : schema;
  },
  write: (value, nested) =>
    written((writer) => {
      for (const schema of Array.isArray(value) ? value : [value]) {
        writer.tag(Array.isArray(value) ? 2 : 1, 2);
        writer.bytes(nested(schema, jsonSchema()));
      }
    }),
};

const schemaOrStrings: CustomMessage = {
  zero: null,
  read(reader, nested) {
    let schema: unknown = null;
    const names: string[] = [];
    eachField(reader, {
      1: () => (schema = nested(reader.message(), jsonSchema())),
      2: () => names.push(reader.text()),
    });
    return names.length > 0 ? names : schema;
  },
  write: (value, nested) =>
    written((writer) => {
      if (isObject(value)) {
        writer.tag(1, 2);
        writer.bytes(nested(value, jsonSchema()));
      }
      for (const name of Array.isArray(value) ? value : []) {
        writer.tag(2, 2);
        writer.text(String(name));
      }
    }),
};

/** By the name that the facts give them. */
export const customMessages: Readonly<Record<string, CustomMessage>> = {
  Quantity: quantity,
  IntOrString: intOrString,
  Time: timeMessage((seconds) => `${secondsText(seconds)}Z`),
  MicroTime: timeMessage((seconds, nanos) => {
    const micros = String(Math.floor(nanos / 1000)).padStart(6, "0");
    return `${secondsText(seconds)}.${micros}Z`;
  }),
  Duration: duration,
  RawExtension: rawJson,
  FieldsV1: rawJson,
  JSON: rawJson,
  JSONSchemaPropsOrBool: schemaOrBool,
  JSONSchemaPropsOrArray: schemaOrSchemas,
  JSONSchemaPropsOrStringArray: schemaOrStrings,
};

/** The custom message of a name. */
export function customMessage(name: string): CustomMessage {
  const message = customMessages[name];
  if (!message) throw new Error(`protobuf: no custom message is called ${name}`);
  return message;
}
