import { goText, goType, isObject, type JsonObject, quoted, WholeFloat } from "@konverge/core";
import { ItemError, itemElement } from "./item-element.ts";
import { formOf, type ListType, type MapType, type MergeType } from "./merge-type.ts";
import { pathText } from "./path-element.ts";

/** One way in which an object does not fit its schema. */
export interface TypeProblem {
  path: string;
  message: string;
}

/**
 * What keeps an object from being applied: fields the schema does not declare, values of the wrong form, items that
 * cannot be distinguished. The messages are the API server's.
 */
export function typeProblems(type: MergeType, object: unknown, options: { allowDuplicates?: boolean } = {}) {
  const walker = new Walker(options.allowDuplicates ?? false);
  walker.value(type, object);
  return walker.problems;
}

/** All problems as one message. */
export function problemText(problems: readonly TypeProblem[]): string {
  const lines = problems.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
  return lines.length === 1 ? lines[0]! : ["errors:", ...lines.map((line) => `  ${line}`)].join("\n");
}

class Walker {
  readonly problems: TypeProblem[] = [];
  readonly #allowDuplicates: boolean;
  readonly #path: string[] = [];

  constructor(allowDuplicates: boolean) {
    this.#allowDuplicates = allowDuplicates;
  }

  value(type: MergeType, value: unknown): void {
    if (value === null || value === undefined) return;
    switch (formOf(type, value)) {
      case "scalar":
        this.#scalar(type, value);
        break;
      case "list":
        if (Array.isArray(value)) this.#list(type.list!, value);
        else this.#problem(`expected list, got ${boxed(value)}`);
        break;
      case "map":
        if (isObject(value)) this.#map(type.map!, value);
        else this.#problem(`expected map, got ${boxed(value)}`);
        break;
    }
  }

  #scalar(type: MergeType, value: unknown): void {
    const actual = typeof value === "bigint" || value instanceof WholeFloat ? "number" : typeof value;
    if (type.scalar === "numeric") {
      if (actual !== "number") this.#problem(`expected numeric (int or float), got ${goType(value)}`);
    } else if (type.scalar === "string") {
      if (actual !== "string") this.#problem(`expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`);
    } else if (type.scalar === "boolean") {
      if (actual !== "boolean") this.#problem(`expected boolean, got ${boxed(value)}`);
    } else if (actual === "object") {
      this.#problem(`expected any scalar, got ${boxed(value)}`);
    }
  }

  #list(type: ListType, items: readonly unknown[]): void {
    const listed = new Set<string>();
    for (const [index, item] of items.entries()) {
      let element = `i:${index}`;
      if (!type.atomic) {
        try {
          element = itemElement(type, item);
        } catch (error) {
          if (!(error instanceof ItemError)) throw error;
          this.#problem(`element ${index}: ${error.message}`);
          return;
        }
        if (listed.has(element) && !this.#allowDuplicates) {
          this.#problem(`duplicate entries for key ${pathText([element])}`);
        }
        listed.add(element);
      }
      this.#path.push(element);
      this.value(type.item, item);
      this.#path.pop();
    }
  }

  #map(type: MapType, map: JsonObject): void {
    for (const name in map) {
      const field = type.field(name);
      this.#path.push(field.element);
      if (field.type) this.value(field.type, map[name]);
      else this.#problem("field not declared in schema");
      this.#path.pop();
      if (!field.type) return;
    }
  }

  #problem(message: string): void {
    this.problems.push({ path: pathText(this.#path), message });
  }
}

/** The API server prints the box it keeps a value in. */
const boxed = (value: unknown) => `&{${goText(value)}}`;

/** A value as Go source has it. */
function goSyntax(value: unknown): string {
  if (value === null || value === undefined) return "interface {}(nil)";
  if (typeof value === "string") return quoted(value);
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(", ")}}`;
  if (!isObject(value)) return goText(value);
  const names = Object.keys(value).sort();
  return `map[string]interface {}{${names.map((name) => `${quoted(name)}:${goSyntax(value[name])}`).join(", ")}}`;
}
