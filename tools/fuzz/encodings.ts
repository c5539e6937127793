import type { GroupVersionKind, Random, Schema } from "@konverge/core";
import { apiVersionOf, isObject } from "@konverge/core";
import { builtinSchema } from "@konverge/kinds";
import { MAGIC } from "@konverge/schema/protobuf";
import { hostileString, RawJson } from "./hostile-values.ts";

/** JSON as text, with what no JSON library would write. */
export function jsonText(random: Random, value: unknown): string {
  if (value instanceof RawJson) return value.text;
  if (Array.isArray(value)) return `[${value.map((one) => jsonText(random, one)).join(",")}]`;
  if (isObject(value)) {
    const fields = Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}:${jsonText(random, one)}`);
    if (fields.length > 0 && random.below(40) === 0) fields.push(fields[0]!);
    return `{${fields.join(",")}}`;
  }
  return JSON.stringify(value) ?? "null";
}

/** YAML: JSON is YAML too; besides it, what only YAML has. */
export function yamlText(random: Random, value: unknown): string {
  const json = jsonText(random, value);
  switch (random.below(16)) {
    case 0:
      return `a: &a [x, x]\n${Array.from({ length: 30 }, (_, i) => `b${i}: &b${i} [*${i === 0 ? "a" : `b${i - 1}`}, *${i === 0 ? "a" : `b${i - 1}`}]`).join("\n")}\n`;
    case 1:
      return `${"- ".repeat(2 ** random.below(15))}x`;
    case 2:
      return `x: |\n  ${hostileString(random)}\n y: !!binary ${hostileString(random)}\n`;
    case 3:
      return Array.from({ length: 2 ** random.below(12) }, (_, i) => `? k${i}\n: v`).join("\n");
    case 4:
      return `%YAML 1.${random.below(4)}\n--- !<tag:${hostileString(random)}>\n${json}\n...\n---\n${json}`;
    default:
      return json;
  }
}

/** CBOR with its self-describing tag, of what CBOR has for a value. */
export function cborBytes(value: unknown): Buffer {
  return Buffer.concat([Buffer.from([0xd9, 0xd9, 0xf7]), cborItem(value)]);
}

function cborItem(value: unknown): Buffer {
  const head = (major: number, length: number) => {
    if (length < 24) return Buffer.from([(major << 5) | length]);
    const bytes = Buffer.alloc(5, (major << 5) | 26);
    bytes.writeUInt32BE(length, 1);
    return bytes;
  };
  if (value === null || value === undefined) return Buffer.from([0xf6]);
  if (typeof value === "boolean") return Buffer.from([value ? 0xf5 : 0xf4]);
  if (typeof value === "number") {
    if (Number.isInteger(value) && Math.abs(value) < 2 ** 31) return value < 0 ? head(1, -1 - value) : head(0, value);
    const bytes = Buffer.alloc(9, 0xfb);
    bytes.writeDoubleBE(value, 1);
    return bytes;
  }
  if (Array.isArray(value)) return Buffer.concat([head(4, value.length), ...value.map(cborItem)]);
  if (isObject(value) && !(value instanceof RawJson)) {
    const fields = Object.entries(value);
    return Buffer.concat([head(5, fields.length), ...fields.flatMap(([name, one]) => [cborItem(name), cborItem(one)])]);
  }
  const text = Buffer.from(value instanceof RawJson ? value.text : String(value));
  return Buffer.concat([head(3, text.length), text]);
}

/** Protobuf: an envelope with a message whose fields have the numbers that the kind's have, and whatever in them. */
export function protobufBytes(random: Random, gvk: GroupVersionKind): Buffer {
  const typeMeta = Buffer.concat([field(1, Buffer.from(apiVersionOf(gvk))), field(2, Buffer.from(gvk.kind))]);
  let schema: Schema | undefined;
  try {
    schema = builtinSchema(gvk.group, gvk.version, gvk.kind);
  } catch {
    // Not a built-in kind: it is sent all the same.
  }
  const raw = message(random, schema, 0);
  return Buffer.concat([
    MAGIC,
    field(1, typeMeta),
    field(2, raw),
    field(3, Buffer.alloc(0)),
    field(4, Buffer.alloc(0)),
  ]);
}

function message(random: Random, schema: Schema | undefined, depth: number): Buffer {
  const parts: Buffer[] = [];
  for (const node of Object.values(schema?.properties ?? {}) as Schema[]) {
    const { proto } = node.go ?? {};
    if (!proto || (depth > 0 && random.below(4) > 0)) continue;
    const within = [...(proto.within ?? [])].reverse();
    const times = node.type === "array" ? random.below(3) : 1;
    for (let i = 0; i < times; i++) {
      let part = protobufField(
        random,
        proto.field,
        proto.wire,
        (node.type === "array" ? node.items : node) as Schema,
        depth,
      );
      for (const outer of within) part = field(outer, part);
      parts.push(part);
    }
  }
  if (random.below(10) === 0) parts.push(field(1 + random.below(2000), Buffer.from(hostileString(random))));
  if (random.below(40) === 0) parts.push(recursive(2 ** random.below(15)));
  return Buffer.concat(parts);
}

function protobufField(random: Random, number: number, wire: string, node: Schema, depth: number): Buffer {
  if (random.below(15) === 0) return field(number, Buffer.from(hostileString(random)));
  if (wire === "varint")
    return Buffer.concat([varint(number * 8), varint(random.below(2 ** 32) * random.pick([1, 0, 2 ** 20]))]);
  if (wire === "fixed64") return Buffer.concat([varint(number * 8 + 1), Buffer.alloc(8, random.below(256))]);
  if (node?.properties && depth < 8) return field(number, message(random, node, depth + 1));
  return field(number, Buffer.from(hostileString(random)));
}

/** A message in a message in a message. */
function recursive(depth: number): Buffer {
  let inner: Buffer = Buffer.alloc(0);
  for (let i = 0; i < Math.min(depth, 3000); i++) inner = field(1 + (i % 3), inner);
  return inner;
}

function field(number: number, bytes: Uint8Array): Buffer {
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  do {
    bytes.push((rest % 128) + (rest >= 128 ? 128 : 0));
    rest = Math.floor(rest / 128);
  } while (rest > 0);
  return Buffer.from(bytes);
}

/** The same bytes, cut, doubled, or with some of them changed: invalid UTF-8 as well. */
export function damagedBytes(random: Random, bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  switch (random.below(5)) {
    case 0:
      return copy.subarray(0, random.below(copy.length + 1));
    case 1:
      return Buffer.concat([copy, copy.subarray(random.below(copy.length + 1))]);
    case 2: {
      const at = random.below(copy.length + 1);
      return Buffer.concat([copy.subarray(0, at), Buffer.from([0xff, 0xc0, 0x80, 0xed, 0xa0]), copy.subarray(at)]);
    }
    default:
      for (let i = random.below(8); i >= 0 && copy.length > 0; i--) copy[random.below(copy.length)] = random.below(256);
      return copy;
  }
}
