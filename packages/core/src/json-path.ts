import { append } from "./append.ts";
import { goText, goType, toGoJson } from "./go-text.ts";
import { WholeFloat } from "./json.ts";
import { isObject } from "./json-object.ts";
import { JsonPathError, type PathNode, parseJsonPathTemplate } from "./json-path-parser.ts";

/** How a {@link JsonPath} treats what it does not find. */
export interface JsonPathOptions {
  /** A missing field returns nothing instead of an error, as in `kubectl get -o jsonpath`. */
  allowMissingKeys?: boolean;
}

/**
 * kubectl's JSONPath: a template such as `{range .items[*]}{.metadata.name}{"\n"}{end}`, read and evaluated as client-go
 * does, with its messages. Throws a {@link JsonPathError} for what it cannot read.
 *
 *     new JsonPath("{.items[*].metadata.name}").print(list); // "web db"
 */
export class JsonPath {
  readonly #nodes: PathNode[];
  readonly #allowMissingKeys: boolean;

  constructor(template: string, options: JsonPathOptions = {}) {
    this.#nodes = parseJsonPathTemplate(template);
    this.#allowMissingKeys = options.allowMissingKeys ?? false;
  }

  /** The values found, one list for each piece of the template. */
  find(data: unknown): unknown[][] {
    return new Evaluation(this.#nodes, this.#allowMissingKeys).find(data, 0);
  }

  /** The template with its values: values of one piece are separated by spaces, objects and lists are JSON. */
  print(data: unknown): string {
    return this.find(data)
      .map((values) => values.map(printValue).join(" "))
      .join("");
  }
}

/** A value as the JSONPath output of kubectl and the string columns of custom resources show it. */
export function printValue(value: unknown): string {
  if (value === null || value === undefined) return "null";
  return typeof value === "object" && !(value instanceof WholeFloat) ? toGoJson(value) : goText(value);
}

/** A failed step. An `exists` filter looks only at what was found before the failure. */
class StepError extends JsonPathError {
  readonly found: unknown[];

  constructor(message: string, found: unknown[]) {
    super(message);
    this.found = found;
  }
}

/** One evaluation: `range` and `end` are counted, since a range runs the rest of the template for each of its values. */
class Evaluation {
  readonly #nodes: PathNode[];
  readonly #allowMissingKeys: boolean;
  #beginning = 0;
  #open = 0;
  #ending = 0;
  #lastEnd = -1;

  constructor(nodes: PathNode[], allowMissingKeys: boolean) {
    this.#nodes = nodes;
    this.#allowMissingKeys = allowMissingKeys;
  }

  find(data: unknown, from: number): unknown[][] {
    const found: unknown[][] = [];
    for (let i = from; i < this.#nodes.length; i++) {
      const values = this.#walk([data], this.#nodes[i]!);
      if (this.#ending > 0 && this.#ending <= this.#open) {
        this.#ending--;
        this.#lastEnd = i;
        break;
      }
      if (this.#beginning === 0) {
        found.push(values);
        continue;
      }
      this.#beginning--;
      this.#open++;
      for (const value of values) append(found, this.find(value, i + 1));
      // The body of an empty range is still walked, to find where it ends.
      if (values.length === 0) this.find(undefined, i + 1);
      this.#open--;
      if (this.#lastEnd > i) i = this.#lastEnd;
    }
    return found;
  }

  #walk(input: unknown[], node: PathNode): unknown[] {
    switch (node.type) {
      case "list":
        return this.#walkAll(input, node.nodes);
      case "text":
        return [node.text];
      case "constant":
        return input.map(() => node.value);
      case "field":
        return this.#field(input, node.name);
      case "array":
        return slice(input, node);
      case "filter":
        return this.#filter(input, node);
      case "wildcard":
        return input.flatMap(childrenOf);
      case "recursive":
        return input.flatMap(descendantsOf);
      case "union":
        return this.#union(input, node.branches);
      case "identifier":
        return this.#identifier(input, node.name);
    }
  }

  #walkAll(input: unknown[], nodes: PathNode[]): unknown[] {
    return nodes.reduce((values, node) => this.#walk(values, node), input);
  }

  #field(input: unknown[], name: string): unknown[] {
    const found = input.filter((value) => isObject(value) && Object.hasOwn(value, name));
    if (found.length === 0 && input.length > 0 && !this.#allowMissingKeys)
      throw new StepError(`${name} is not found`, []);
    return found.map((value) => (value as Record<string, unknown>)[name]);
  }

  #union(input: unknown[], branches: PathNode[][]): unknown[] {
    try {
      return branches.flatMap((branch) => this.#walkAll(input, branch));
    } catch (error) {
      throw error instanceof StepError ? new StepError(error.message, input) : error;
    }
  }

  #identifier(input: unknown[], name: string): unknown[] {
    if (name === "range") {
      this.#beginning++;
      return input;
    }
    if (name !== "end") throw new StepError(`unrecognized identifier ${name}`, input);
    if (this.#open === 0) throw new StepError("not in range, nothing to end", []);
    this.#ending++;
    return [];
  }

  #filter(input: unknown[], node: PathNode & { type: "filter" }): unknown[] {
    const found: unknown[] = [];
    for (const list of input) {
      if (!Array.isArray(list))
        throw new StepError(`${goText(list)} is not array or slice and cannot be filtered`, input);
      for (const item of list) if (this.#passes(item, node, input, found)) found.push(item);
    }
    return found;
  }

  #passes(item: unknown, node: PathNode & { type: "filter" }, input: unknown[], found: unknown[]): boolean {
    if (node.operator === "exists") return this.#exists(item, node.left);
    const single = (nodes: PathNode[]): unknown[] => {
      const values = this.#failingWith(input, () => this.#walkAll([item], nodes));
      if (values.length > 1) throw new StepError("can only compare one element at a time", input);
      return values;
    };
    const left = single(node.left);
    if (left.length === 0) return false;
    const right = single(node.right);
    if (right.length === 0) return false;
    return this.#failingWith(found, () => compare(left[0], node.operator, right[0]));
  }

  #exists(item: unknown, nodes: PathNode[]): boolean {
    try {
      return this.#walkAll([item], nodes).length > 0;
    } catch (error) {
      if (error instanceof StepError) return error.found.length > 0;
      throw error;
    }
  }

  #failingWith<T>(found: unknown[], step: () => T): T {
    try {
      return step();
    } catch (error) {
      throw error instanceof JsonPathError ? new StepError(error.message, found) : error;
    }
  }
}

function slice(input: unknown[], node: PathNode & { type: "array" }): unknown[] {
  const found: unknown[] = [];
  const fail = (message: string) => new StepError(message, input);
  for (const list of input) {
    if (list === null || list === undefined) continue;
    if (!Array.isArray(list)) throw fail(`${goType(list)} is not array or slice`);
    const { length } = list;
    const fromEnd = (index: number) => (index < 0 ? index + length : index);
    const first = node.start ?? 0;
    const start = fromEnd(first);
    const end = node.isIndex ? (first === -1 ? length : fromEnd(first + 1)) : fromEnd(node.end ?? length);
    if (start === end) return found;
    const outside = (index: number) => fail(`array index out of bounds: index ${index}, length ${length}`);
    if (start >= length || start < 0) throw outside(start);
    if (end > length || end < 0) throw outside(end - 1);
    if (start > end) throw fail(`starting index ${start} is greater than ending index ${end}`);
    const step = node.step ?? 1;
    if (step <= 0) throw fail("step must be > 0");
    for (let i = start; i < end; i += step) found.push(list[i]);
  }
  return found;
}

/** In Go, a string is a sequence of bytes. */
function childrenOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  if (isObject(value)) return Object.values(value);
  return typeof value === "string" ? [...new TextEncoder().encode(value)] : [];
}

function descendantsOf(value: unknown): unknown[] {
  const children = childrenOf(value);
  return children.length === 0 ? [] : [value, ...children.flatMap(descendantsOf)];
}

function compare(left: unknown, operator: string, right: unknown): boolean {
  switch (operator) {
    case "==":
      return order(left, right, false) === 0;
    case "!=":
      return order(left, right, false) !== 0;
    case "<":
      return order(left, right, true) < 0;
    case "<=":
      return order(left, right, true) <= 0;
    case ">":
      return order(left, right, true) > 0;
    case ">=":
      return order(left, right, true) >= 0;
    default:
      throw new JsonPathError(`unrecognized filter operator ${operator}`);
  }
}

/** Only values of one Go type compare: an integer and a float do not. */
function order(left: unknown, right: unknown, mustBeOrdered: boolean): number {
  const [type, other] = [goType(left), goType(right)];
  const isBasic = (name: string) => ["bool", "string", "int64", "float64"].includes(name);
  if (!isBasic(type) || !isBasic(other)) throw new JsonPathError("invalid type for comparison");
  if (type !== other) throw new JsonPathError("incompatible types for comparison");
  if (type === "bool" && mustBeOrdered) throw new JsonPathError("invalid type for comparison");
  const [a, b] = [left, right].map((value) => (value instanceof WholeFloat ? value.value : value)) as [number, number];
  return a < b ? -1 : a > b ? 1 : 0;
}
