import { canonicalQuantity, formatDuration, parseJson, QuantityError, type Schema } from "@konverge/core";
import { definitionSchema } from "@konverge/kinds";
import { malformed, type WireReader } from "./wire.ts";

/** A struct whose JSON is not that of its fields. */
export interface CustomMessage {
  read(reader: WireReader, nested: Nested): unknown;
  /** The JSON of its zero value. */
  readonly zero: unknown;
}

/** Reads a message of a schema, for structs that hold others. */
export type Nested = (reader: WireReader, schema: Schema) => unknown;

/** Calls back for each field; fields that are not taken are skipped. */
function eachField(reader: WireReader, take: Record<number, () => void>): void {
  while (!reader.done) {
    const { field, wire } = reader.tag();
    const taker = take[field];
    if (taker) taker();
    else reader.skip(wire);
  }
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
};

/** By the name that the facts give them. */
const customMessages: Readonly<Record<string, CustomMessage>> = {
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
