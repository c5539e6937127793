import { append, goText, isObject, type JsonObject, toGoJson } from "@konverge/core";
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseAllDocuments,
  type Scalar,
  type YAMLMap,
} from "yaml";
import { put } from "../json-value.ts";
import { floatOf, integerOf, resolvePlain } from "./scalars.ts";

export interface ParseYamlOptions {
  /** Refuse a key that stands twice in a map; otherwise the last one counts, as it does to Kubernetes. */
  strict?: boolean;
}

/** Text that is not YAML, or YAML that is not JSON. */
export class YamlError extends Error {
  override readonly name = "YamlError";
  readonly code = "KONVERGE_YAML";
  /** From 1. */
  readonly line: number;
  readonly column: number;

  constructor(place: { line: number; col: number }, problem: string) {
    super(`yaml: line ${place.line}: ${problem}`);
    this.line = place.line;
    this.column = place.col;
  }
}

/** The documents of a text, as JSON values. Empty documents are left out. JSON is YAML, so it will do as well. */
export function parseYaml(text: string, options: ParseYamlOptions = {}): unknown[] {
  const lines = new LineCounter();
  checkCharacters(text);
  // Which scalar means what is decided here, so the library is told to leave them all as text.
  const documents = parseAllDocuments(text, {
    schema: "failsafe",
    version: "1.1",
    uniqueKeys: false,
    lineCounter: lines,
    logLevel: "silent",
    prettyErrors: false,
  });
  const values: unknown[] = [];
  for (const document of Array.isArray(documents) ? documents : []) {
    const [error] = document.errors;
    if (error) {
      // What looks like a key over several lines is an error where the second line goes wrong.
      const long = document.errors.find(({ code }) => code === "MULTILINE_IMPLICIT_KEY");
      throw new YamlError(lines.linePos(long?.pos[1] ?? error.pos[0]), SERVER_WORDS[error.code] ?? error.message);
    }
    const value = new Converter(document, lines, text, options).convert(document.contents);
    if (value !== null) values.push(value);
  }
  return values;
}

function checkCharacters(text: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  const offset = text.search(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/);
  if (offset < 0) return;
  const before = text.slice(0, offset).split("\n");
  throw new YamlError({ line: before.length, col: before.at(-1)!.length + 1 }, "control characters are not allowed");
}

/** Common mistakes in the words that users of kubectl know. */
const SERVER_WORDS: Partial<Record<string, string>> = {
  BLOCK_AS_IMPLICIT_KEY: "mapping values are not allowed in this context",
  BLOCK_IN_FLOW: "did not find expected ',' or ']'",
  TAB_AS_INDENT: "found character that cannot start any token",
  BAD_DQ_ESCAPE: "found unknown escape character",
  MULTILINE_IMPLICIT_KEY: "mapping values are not allowed in this context",
};

/** A document that grows by more than this through aliases is an attack. */
const MOST_ALIASED = 100_000;

class Converter {
  readonly #document: Document;
  readonly #lines: LineCounter;
  readonly #strict: boolean;
  /** Where the text ends without a line break, if it does. */
  readonly #bareEnd: number | undefined;
  #aliasDepth = 0;
  #aliased = 0;

  constructor(document: Document, lines: LineCounter, text: string, { strict = false }: ParseYamlOptions) {
    this.#document = document;
    this.#lines = lines;
    this.#bareEnd = text.endsWith("\n") ? undefined : text.length;
    this.#strict = strict;
  }

  convert(node: unknown): unknown {
    if (this.#aliasDepth > 0 && ++this.#aliased > MOST_ALIASED) {
      throw this.#error(node, "document contains excessive aliasing");
    }
    if (isAlias(node)) {
      const target = node.resolve(this.#document);
      if (!target) throw this.#error(node, `unknown anchor '${node.source}' referenced`);
      this.#aliasDepth++;
      const value = this.convert(target);
      this.#aliasDepth--;
      return value;
    }
    if (isScalar(node)) return this.#scalar(node);
    if (isSeq(node)) return node.items.map((item) => this.convert(item));
    if (isMap(node)) return this.#map(node);
    return null;
  }

  #map(node: YAMLMap): JsonObject {
    const result: JsonObject = {};
    const merged: JsonObject[] = [];
    for (const { key, value } of node.items) {
      if (isScalar(key) && key.value === "<<" && key.type === "PLAIN") {
        append(merged, this.#mergeSources(value));
        continue;
      }
      const name = this.#key(key, value);
      if (this.#strict && Object.hasOwn(result, name)) {
        throw this.#error(key, `key ${JSON.stringify(name)} already set in map`);
      }
      put(result, name, this.convert(value));
    }
    // Of several sources the first counts, and whatever the map says itself counts more.
    for (const source of merged) {
      for (const name of Object.keys(source)) if (!Object.hasOwn(result, name)) put(result, name, source[name]);
    }
    return result;
  }

  #mergeSources(node: unknown): JsonObject[] {
    const value = this.convert(node);
    const sources = Array.isArray(value) ? value : [value];
    if (!sources.every(isObject)) throw this.#error(node, "map merge requires map or sequence of maps as the value");
    return sources;
  }

  #key(node: unknown, value: unknown): string {
    const key = this.convert(node);
    if (typeof key === "string" || typeof key === "boolean" || typeof key === "bigint") return String(key);
    if (typeof key === "number") return goText(key);
    if (key !== null) throw this.#error(node, `invalid map key: ${toGoJson(key)}`);
    const text = toGoJson(this.convert(value));
    throw this.#error(node, `unsupported map key of type: %!s(<nil>), key: <nil>, value: ${text}`);
  }

  #scalar(node: Scalar): unknown {
    let text = String(node.value ?? "");
    // The library ends a block with a line break even where the file has none.
    if (node.type?.startsWith("BLOCK_") && node.range?.[1] === this.#bareEnd) text = text.replace(/\n$/, "");
    const value = node.tag === undefined ? (node.type === "PLAIN" ? resolvePlain(text) : text) : tagged(node.tag, text);
    if (typeof value !== "number" || Number.isFinite(value)) return value;
    const name = Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
    throw this.#error(node, `json: unsupported value: ${name}`);
  }

  #error(node: unknown, problem: string): YamlError {
    const offset = (node as Node | null)?.range?.[0] ?? 0;
    return new YamlError(this.#lines.linePos(offset), problem);
  }
}

const CORE_TAG = "tag:yaml.org,2002:";

function tagged(tag: string, text: string): unknown {
  switch (tag) {
    case `${CORE_TAG}null`:
      return null;
    case `${CORE_TAG}bool`:
    case `${CORE_TAG}int`:
    case `${CORE_TAG}float`:
      return integerOf(text.replaceAll("_", "")) ?? floatOf(text) ?? resolvePlain(text);
    case `${CORE_TAG}binary`:
      return new TextDecoder().decode(Uint8Array.fromBase64?.(text) ?? Buffer.from(text, "base64"));
    default:
      return text;
  }
}
