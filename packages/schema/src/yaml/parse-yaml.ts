import { goText, type JsonObject, MAX_JSON_DEPTH, quoted } from "@konverge/core";
import { put } from "../json-value.ts";
import { NodeParser, type YamlNode } from "./parse-nodes.ts";
import { resolvePlain, tagged } from "./scalars.ts";
import { problemInLine, YamlError } from "./yaml-error.ts";

export interface ParseYamlOptions {
  /** Reject duplicate keys; otherwise the last one applies, as in Kubernetes. */
  strict?: boolean;
}

/** The documents of a YAML or JSON text, as JSON values. Empty documents are skipped. */
export function parseYaml(text: string, options: ParseYamlOptions = {}): unknown[] {
  checkCharacters(text);
  const parser = new NodeParser(text);
  const values: unknown[] = [];
  for (let document = parser.nextDocument(); document; document = parser.nextDocument()) {
    const converter = new Converter();
    const value = converter.convert(document);
    const [first] = converter.duplicates;
    if (options.strict && first) throw new YamlError(problemInLine(first.problem, first.node.line + 1), first.node);
    if (value !== null) values.push(value);
  }
  return values;
}

/** The first document of a text, which is all that an API server reads. */
export interface YamlDocument {
  readonly value: unknown;
  /** `line 4: key "a" already set in map`, for each key that stands twice in a map. */
  readonly duplicates: readonly string[];
}

/** Reads the first document of a text. Throws a `YamlLimitError` for one of more keys and values than `mostNodes`. */
export function parseYamlDocument(text: string, { mostNodes }: { mostNodes?: number } = {}): YamlDocument {
  checkCharacters(text);
  const document = new NodeParser(text, mostNodes).nextDocument();
  if (!document) return { value: null, duplicates: [] };
  const converter = new Converter();
  const value = converter.convert(document);
  return {
    value,
    duplicates: converter.duplicates.map(({ node, problem }) => `line ${node.line + 1}: ${problem}`),
  };
}

function checkCharacters(text: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  const offset = text.search(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u0084\u0086-\u009f\ufffe\uffff]/);
  if (offset < 0) return;
  const before = text.slice(0, offset).split("\n");
  const place = { line: before.length - 1, column: before.at(-1)!.length };
  throw new YamlError("yaml: control characters are not allowed", place);
}

interface Repeated {
  readonly node: YamlNode;
  readonly problem: string;
}

/** Makes a JSON value of a document. */
class Converter {
  /** Keys that stood in a map already. */
  readonly duplicates: Repeated[] = [];
  readonly #open = new Set<YamlNode>();
  #converted = 0;
  #aliased = 0;
  #depth = 0;

  convert(node: YamlNode): unknown {
    this.#count();
    if (node.kind === "scalar") return this.#scalar(node);
    if (++this.#depth > MAX_JSON_DEPTH) throw tooDeep(node);
    let value: unknown;
    if (node.kind === "alias") value = this.#alias(node, (target) => this.convert(target));
    else if (node.kind === "list") value = node.items.map((item) => this.convert(item));
    else value = this.#map(node, {}, new Set());
    this.#depth--;
    return value;
  }

  /** Of a large document not much may come from aliases: a few lines could stand for gigabytes. */
  #count(): void {
    this.#converted++;
    if (this.#open.size > 0) this.#aliased++;
    if (this.#aliased <= 100 || this.#converted <= 1000) return;
    const large = Math.min(1, Math.max(0, (this.#converted - 400_000) / 3_600_000));
    if (this.#aliased / this.#converted > 0.99 - 0.89 * large) {
      throw new YamlError("yaml: document contains excessive aliasing", { line: 0, column: 0 });
    }
  }

  #alias<T>(node: YamlNode, convert: (target: YamlNode) => T): T {
    if (this.#open.has(node)) throw new YamlError(`yaml: anchor '${node.text}' value contains itself`, node);
    this.#open.add(node);
    const value = convert(node.target!);
    this.#open.delete(node);
    return value;
  }

  /** Adds the entries of a map. `known` has the keys as they were before they became text: 1 and "1" are two. */
  #map(node: YamlNode, result: JsonObject, known: Set<unknown>): JsonObject {
    for (let i = 0; i < node.items.length; i += 2) {
      const [key, value] = [node.items[i]!, node.items[i + 1]!];
      if (isMerge(key)) {
        this.#merge(value, result, known);
        continue;
      }
      const name = this.convert(key);
      if (typeof name === "object" && name !== null)
        throw new YamlError(`yaml: invalid map key: ${goSyntax(name)}`, key);
      const converted = this.convert(value);
      if (name === null) {
        const shown = `unsupported map key of type: %!s(<nil>), key: <nil>, value: ${converted === null ? "<nil>" : goSyntax(converted)}`;
        throw new YamlError(shown, key);
      }
      if (known.has(name)) {
        const shown = typeof name === "string" ? quoted(name) : goText(name);
        this.duplicates.push({ node: value, problem: `key ${shown} already set in map` });
      }
      known.add(name);
      put(result, typeof name === "number" ? goText(name) : String(name), converted);
    }
    return result;
  }

  /** Entries of other maps, which `<<` names; of several the first counts most. */
  #merge(node: YamlNode, result: JsonObject, known: Set<unknown>): void {
    const sources = node.kind === "list" ? [...node.items].reverse() : [node];
    for (const source of sources) {
      const target = source.kind === "alias" ? source.target! : source;
      if (target.kind !== "map")
        throw new YamlError("yaml: map merge requires map or sequence of maps as the value", source);
      this.#count();
      if (++this.#depth > MAX_JSON_DEPTH) throw tooDeep(node);
      if (source.kind === "alias") this.#alias(source, () => this.#map(target, result, known));
      else this.#map(target, result, known);
      this.#depth--;
    }
  }

  #scalar(node: YamlNode): unknown {
    const value = node.tag !== "" ? this.#tagged(node) : node.isPlain ? resolvePlain(node.text) : node.text;
    if (typeof value !== "number" || Number.isFinite(value)) return value;
    const name = Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
    throw new YamlError(`json: unsupported value: ${name}`, node);
  }

  #tagged(node: YamlNode): unknown {
    const { value, problem } = tagged(node.tag, node.text);
    if (problem !== undefined) throw new YamlError(`yaml: ${problem}`, node);
    return value;
  }
}

function isMerge({ kind, text, isPlain, tag }: YamlNode): boolean {
  return kind === "scalar" && text === "<<" && (isPlain || tag === "tag:yaml.org,2002:merge");
}

function tooDeep(node: YamlNode): YamlError {
  return new YamlError(problemInLine(`exceeded max depth of ${MAX_JSON_DEPTH}`, node.line && node.line + 1), node);
}

/** As `%#v` of Go prints a value. */
function goSyntax(value: unknown): string {
  if (value === null) return "interface {}(nil)";
  if (typeof value === "string") return quoted(value);
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(", ")}}`;
  if (typeof value !== "object") return goText(value);
  const entries = Object.entries(value).map(([key, item]) => `${quoted(key)}:${goSyntax(item)}`);
  return `map[interface {}]interface {}{${entries.sort().join(", ")}}`;
}
