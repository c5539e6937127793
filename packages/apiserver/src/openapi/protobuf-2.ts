import { stringifyJson } from "@konverge/core";
import type { Part, SwaggerDocument } from "./version-2.ts";

/** What clients in Go ask for: the document as messages of the package openapi.v2. */
export const PROTOBUF_TYPE = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

/** The wire form of a document. Messages are written as their field numbers and contents, no more. */
export function encodeSwagger({ swagger, info, paths, definitions }: SwaggerDocument): Uint8Array {
  return message(
    text(1, swagger),
    nested(2, message(text(1, info.title), text(2, info.version))),
    nested(8, message(...Object.entries(paths).map(([path, item]) => nested(2, named(path, pathItem(item)))))),
    nested(9, namedSchemas(definitions)),
  );
}

const METHODS: Record<string, number> = { get: 2, put: 3, post: 4, delete: 5, options: 6, head: 7, patch: 8 };

function pathItem(item: Part): Buffer {
  const methods = Object.keys(METHODS).filter((method) => item[method] !== undefined);
  return message(
    ...methods.map((method) => nested(METHODS[method]!, operation(item[method] as Part))),
    ...list(item.parameters).map((one) => nested(9, parameter(one as Part))),
  );
}

function operation(given: Part): Buffer {
  const responses = Object.entries(given.responses as Record<string, Part>);
  return message(
    ...texts(1, given.tags),
    text(5, given.operationId),
    ...texts(6, given.produces),
    ...texts(7, given.consumes),
    ...list(given.parameters).map((one) => nested(8, parameter(one as Part))),
    nested(
      9,
      message(...responses.map(([code, answer]) => nested(1, named(code, message(nested(1, response(answer))))))),
    ),
    ...extensions(13, given),
  );
}

function response({ description, schema: body }: Part): Buffer {
  return message(text(1, description), ...(body ? [nested(2, message(nested(1, schema(body as Part))))] : []));
}

/** A parameter is one of several messages, each within a message that says which. */
function parameter(given: Part): Buffer {
  const { name, in: place, required, type, uniqueItems } = given;
  if (place === "body") {
    const body = message(text(2, name), text(3, place), flag(4, required), nested(5, schema(given.schema as Part)));
    return message(nested(1, message(nested(1, body))));
  }
  const head = [flag(1, required), text(2, place), text(4, name)];
  const other =
    place === "query"
      ? nested(3, message(...head, text(6, type), flag(20, uniqueItems)))
      : nested(4, message(...head, text(5, type), flag(19, uniqueItems)));
  return message(nested(1, message(nested(2, message(other)))));
}

function schema(given: Part): Buffer {
  const { additionalProperties: additional } = given;
  return message(
    text(1, given.$ref),
    text(2, given.format),
    text(3, given.title),
    text(4, given.description),
    ...(given.default === undefined ? [] : [nested(5, any(given.default))]),
    double(7, given.maximum),
    flag(8, given.exclusiveMaximum),
    double(9, given.minimum),
    flag(10, given.exclusiveMinimum),
    integer(11, given.maxLength),
    integer(12, given.minLength),
    text(13, given.pattern),
    integer(14, given.maxItems),
    integer(15, given.minItems),
    flag(16, given.uniqueItems),
    integer(17, given.maxProperties),
    integer(18, given.minProperties),
    ...texts(19, given.required),
    ...list(given.enum).map((value) => nested(20, any(value))),
    ...(typeof additional === "object" ? [nested(21, message(nested(1, schema(additional as Part))))] : []),
    ...(typeof additional === "boolean" ? [nested(21, message(flag(2, additional)))] : []),
    ...(typeof given.type === "string" ? [nested(22, message(text(1, given.type)))] : []),
    ...(given.items === undefined ? [] : [nested(23, message(nested(1, schema(given.items as Part))))]),
    ...(given.properties === undefined ? [] : [nested(25, namedSchemas(given.properties as Record<string, Part>))]),
    ...extensions(31, given),
  );
}

function namedSchemas(schemas: Record<string, Part>): Buffer {
  return message(...Object.entries(schemas).map(([name, one]) => nested(1, named(name, schema(one)))));
}

function named(name: string, value: Buffer): Buffer {
  return message(text(1, name), nested(2, value));
}

/** Values of any form travel as YAML, of which JSON is a kind. */
function any(value: unknown): Buffer {
  return message(text(2, `${stringifyJson(value)}\n`));
}

function extensions(field: number, given: Part): Buffer[] {
  const names = Object.keys(given).filter((name) => name.startsWith("x-"));
  return names.map((name) => nested(field, named(name, any(given[name]))));
}

const EMPTY = Buffer.alloc(0);

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function message(...fields: readonly Buffer[]): Buffer {
  return Buffer.concat(fields);
}

function nested(field: number, body: Buffer): Buffer {
  return Buffer.concat([varint((field << 3) | 2), varint(body.length), body]);
}

function text(field: number, value: unknown): Buffer {
  return typeof value === "string" && value !== "" ? nested(field, Buffer.from(value)) : EMPTY;
}

function texts(field: number, values: unknown): Buffer[] {
  return list(values).map((value) => nested(field, Buffer.from(String(value))));
}

function flag(field: number, value: unknown): Buffer {
  return value === true ? Buffer.concat([varint(field << 3), varint(1)]) : EMPTY;
}

function integer(field: number, value: unknown): Buffer {
  return typeof value === "number" && value > 0 ? Buffer.concat([varint(field << 3), varint(value)]) : EMPTY;
}

function double(field: number, value: unknown): Buffer {
  if (typeof value !== "number" || value === 0) return EMPTY;
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return Buffer.concat([varint((field << 3) | 1), bytes]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  bytes.push(rest);
  return Buffer.from(bytes);
}
