import {
  append,
  deepEqual,
  type FieldError,
  isObject,
  type JsonObject,
  MOST_CHARACTERS,
  outOfTime,
  quoted,
  type Schema,
  toGoJson,
} from "@konverge/core";
import type { Correlation } from "./correlation.ts";
import { invalidValue, NO_PATH, notSupported, required, tooLong, tooMany, typeInvalid } from "./field-errors.ts";
import { isInt64, isNearInteger, isNumeric, numberProblems, plainNumber } from "./numbers.ts";
import { factsOf } from "./schema-facts.ts";
import { propertySchema, valuesSchema } from "./schema-fields.ts";

/**
 * Validates a value against the OpenAPI part of a schema. Errors come in the order an API server finds them in, where
 * that order is not random there (it goes through Go maps), and with its causes and words.
 *
 * Of several alternatives that all fail, servers report the errors of the one with the most checks passed. So that the
 * same one is chosen here, each check counts its successes the way theirs do.
 */
export function schemaErrors(
  schema: Schema,
  value: unknown,
  root: { path?: string; old?: Correlation } = {},
): FieldError[] {
  const validator = new Validator(root.path ?? "");
  validator.ratchet(schema, value, "", root.old);
  return validator.distinctErrors();
}

/** Some seconds of work. The largest body has a million values. */
const MOST_STEPS = 10_000_000;
/** As many steps of an automaton take about as long as one of validation. */
const PATTERN_STEPS = 100;

class Validator {
  /** The field in which the value as a whole sits; messages speak of paths below it, causes of whole paths. */
  readonly #base: string;
  #errors: FieldError[] = [];
  #steps = 0;

  constructor(base: string) {
    this.#base = base;
  }

  distinctErrors(): FieldError[] {
    const listed = new Set<string>();
    let characters = 0;
    return this.#errors.filter((error) => {
      // Beyond the number of errors in a response, it does not matter whether they are distinct.
      if (characters > MOST_CHARACTERS) return true;
      const key = `${error.field} ${error.message}`;
      characters += key.length;
      return !listed.has(key) && listed.add(key);
    });
  }

  /** Validating is at worst the product of what the schema and what the value has: a real server would run out of time. */
  #step(steps: number): void {
    this.#steps += steps;
    if (this.#steps > MOST_STEPS) throw outOfTime();
  }

  /** Validates a value that may have been what it is before: then its errors are forgiven. */
  ratchet(schema: Schema, value: unknown, path: string, old: Correlation | undefined): number {
    const before = this.#errors.length;
    const matches = this.#check(schema, value, path, old);
    if (old !== undefined && this.#errors.length > before && old.isEqual()) this.#errors.length = before;
    return matches;
  }

  #check(schema: Schema, value: unknown, path: string, old: Correlation | undefined): number {
    this.#step(1);
    if (value === null || value === undefined)
      return this.#checkType(schema, null, path) + this.#checkEnum(schema, null, path);
    const facts = factsOf(schema);
    let matches = 1;
    if (facts.types.length > 0 || facts.format !== undefined) matches += 1 + this.#checkType(schema, value, path);
    matches += 1 + this.#checkJunctors(schema, value, path);
    if (typeof value === "string") {
      matches += 1;
      this.#checkString(schema, value, path);
      if (facts.isFormat) {
        matches += 1;
        if (!facts.isFormat(value)) this.#typeError(path, facts.format!, value);
      }
    } else if (isNumeric(value)) {
      matches += 2;
      for (const problem of numberProblems(schema, value, path)) {
        this.#errors.push(
          problem.general
            ? invalidValue(this.#base || NO_PATH, "", problem.text)
            : invalidValue(this.#field(path), problem.value, problem.text),
        );
      }
    } else if (Array.isArray(value)) matches += 1 + this.#checkItems(schema, value, path, old);
    matches += 1 + this.#checkEnum(schema, value, path);
    if (isObject(value)) matches += 1 + this.#checkFields(schema, value, path, old);
    return matches;
  }

  #checkType(schema: Schema, value: unknown, path: string): number {
    const { types, format } = factsOf(schema);
    if (value === null) {
      if (types.length === 0 || schema.nullable === true) return 1;
      this.#typeError(path, types.join(","), "null");
      return 0;
    }
    const { type, width } = typeOf(value);
    const isAllowed =
      types.includes(type) ||
      (type === "integer" && types.includes("number")) ||
      (isNumeric(value) && type === "number" && types.includes("integer") && isNearInteger(Number(plainNumber(value))));
    if (type !== "string" && type !== "array" && format !== undefined && !isAllowed && width !== format) {
      this.#typeError(path, format, width);
      return 0;
    }
    // Text is left to the format's own check; so is, by the server's oversight, a list.
    if (
      (type === "string" || type === "array") &&
      format !== undefined &&
      !types.includes("number") &&
      !types.includes("integer")
    ) {
      return 1;
    }
    if (isAllowed) return 1;
    this.#typeError(path, types.join(","), type);
    return 0;
  }

  #checkEnum(schema: Schema, value: unknown, path: string): number {
    const allowed = schema.enum;
    if (!allowed || allowed.length === 0) return 0;
    const { enumTexts, enumWords } = factsOf(schema);
    if (typeof value === "string") {
      if (enumTexts.has(value)) return 0;
    } else {
      this.#step(allowed.length);
      if (allowed.some((candidate) => isEnumMatch(value, candidate))) return 0;
    }
    this.#errors.push(notSupported(this.#field(path), value, enumWords));
    return 0;
  }

  #checkString(schema: Schema, value: string, path: string): void {
    const { maxLength, minLength } = schema;
    const { matches, patternText, patternSize } = factsOf(schema);
    if (matches) this.#step((patternSize * value.length) / PATTERN_STEPS);
    if (maxLength !== undefined && value.length > maxLength && codePoints(value) > maxLength) {
      this.#errors.push(tooLong(this.#field(path), maxLength));
    } else if (minLength !== undefined && codePoints(value) < minLength) {
      this.#invalid(path, value, `${path} in body should be at least ${minLength} chars long`);
    } else if (matches && !matches(value)) {
      this.#invalid(path, value, `${path} in body should match '${patternText}'`);
    }
  }

  #checkItems(schema: Schema, value: unknown[], path: string, old: Correlation | undefined): number {
    const { items, minItems, maxItems } = schema;
    let matches = 1;
    if (items) {
      value.forEach((item, index) => {
        matches += this.ratchet(items, item, `${path}[${index}]`, old?.item(index));
      });
    }
    if (minItems !== undefined && value.length < minItems) {
      this.#invalid(path, value.length, `${path} in body should have at least ${minItems} items`);
    }
    if (maxItems !== undefined && value.length > maxItems) {
      this.#errors.push(tooMany(this.#field(path), value.length, maxItems));
    }
    if (schema.uniqueItems && new Set(value.map(toGoJson)).size < value.length) {
      this.#invalid(path, "", `${path} in body shouldn't contain duplicates`);
    }
    return matches;
  }

  #checkFields(schema: Schema, value: JsonObject, path: string, old: Correlation | undefined): number {
    const { minProperties, maxProperties } = schema;
    const names = Object.keys(value);
    let matches = 0;
    if (minProperties !== undefined && names.length < minProperties) {
      this.#invalid(path, names.length, `${path} in body should have at least ${minProperties} properties`);
    }
    if (maxProperties !== undefined && names.length > maxProperties) {
      this.#errors.push(tooMany(this.#field(path), names.length, maxProperties));
    }
    const values = valuesSchema(schema);
    if (schema.additionalProperties === false || values) {
      for (const name of names) {
        if (propertySchema(schema, name)) continue;
        if (values) matches += this.ratchet(values, value[name], `${path}.${name}`, old?.field(name));
        else this.#invalid(path, name, `${path}.${name} in body is a forbidden property`);
      }
    }
    const { properties } = schema;
    if (properties) {
      for (const name of names) {
        const property = propertySchema(schema, name);
        if (!property) continue;
        // Both versions of an object are converted to one, so what these two said before is unknown.
        const isTypeMeta = path === "" && (name === "kind" || name === "apiVersion");
        const fieldPath = path === "" ? name : `${path}.${name}`;
        matches += this.ratchet(property, value[name], fieldPath, isTypeMeta ? undefined : old?.field(name));
      }
    }
    this.#step(schema.required?.length ?? 0);
    for (const name of schema.required ?? []) {
      if (!Object.hasOwn(value, name)) this.#errors.push(required(this.#field(`${path}.${name}`)));
    }
    return matches;
  }

  #checkJunctors(schema: Schema, value: unknown, path: string): number {
    const { anyOf, oneOf, allOf, not } = schema;
    let matches = 1;
    if (anyOf && anyOf.length > 0) {
      const outcomes: Outcome[] = [];
      for (const alternative of anyOf) {
        outcomes.push(this.#try(alternative, value, path));
        if (outcomes.at(-1)!.errors.length === 0) break;
      }
      const success = outcomes.find((outcome) => outcome.errors.length === 0);
      if (!success) this.#general(`${quoted(path)} must validate at least one schema (anyOf)`);
      matches += this.#adopt(success ?? best(outcomes));
    }
    if (oneOf && oneOf.length > 0) {
      const outcomes = oneOf.map((alternative) => this.#try(alternative, value, path));
      const successes = outcomes.filter((outcome) => outcome.errors.length === 0);
      if (successes.length === 1) matches += successes[0]!.matches;
      else {
        const found = successes.length === 0 ? "Found none valid" : `Found ${successes.length} valid alternatives`;
        this.#general(`${quoted(path)} must validate one and only one schema (oneOf). ${found}`);
        if (successes.length === 0) matches += this.#adopt(best(outcomes));
      }
    }
    if (allOf && allOf.length > 0) {
      const outcomes = allOf.map((part) => this.#try(part, value, path));
      for (const outcome of outcomes) matches += this.#adopt(outcome);
      const failures = outcomes.filter((outcome) => outcome.errors.length > 0).length;
      if (failures > 0) {
        const none = failures === outcomes.length ? ". None validated" : "";
        this.#general(`${quoted(path)} must validate all the schemas (allOf)${none}`);
      }
    }
    if (not && this.#try(not, value, path).errors.length === 0) {
      this.#general(`${quoted(path)} must not validate the schema (not)`);
    }
    return matches;
  }

  /** Validates on the side: the errors are kept apart, and none is forgiven below a junctor. */
  #try(schema: Schema, value: unknown, path: string): Outcome {
    const outer = this.#errors;
    this.#errors = [];
    const matches = this.#check(schema, value, path, undefined);
    const errors = this.#errors;
    this.#errors = outer;
    return { errors, matches };
  }

  #adopt(outcome: Outcome): number {
    append(this.#errors, outcome.errors);
    return outcome.matches;
  }

  #invalid(path: string, value: unknown, text: string): void {
    this.#errors.push(invalidValue(this.#field(path), value, text));
  }

  #typeError(path: string, expected: string, actual: string): void {
    const text = `${path} in body must be of type ${expected}: ${quoted(actual)}`;
    this.#errors.push(typeInvalid(this.#field(path), actual, text));
  }

  /** Errors about alternatives name no field but in their text. */
  #general(text: string): void {
    this.#errors.push(invalidValue(this.#base || NO_PATH, "", text));
  }

  #field(path: string): string {
    const below = path.startsWith(".") ? path.slice(1) : path;
    if (below === "") return this.#base || NO_PATH;
    return this.#base === "" ? below : `${this.#base}.${below}`;
  }
}

interface Outcome {
  errors: FieldError[];
  matches: number;
}

/** The first of those with the most successful checks. */
function best(outcomes: readonly Outcome[]): Outcome {
  return outcomes.reduce((winner, outcome) => (outcome.matches > winner.matches ? outcome : winner));
}

function typeOf(value: unknown): { type: string; width: string } {
  if (typeof value === "string") return { type: "string", width: "" };
  if (typeof value === "boolean") return { type: "boolean", width: "" };
  if (isNumeric(value)) {
    return isInt64(value) ? { type: "integer", width: "int64" } : { type: "number", width: "float64" };
  }
  return { type: Array.isArray(value) ? "array" : "object", width: "" };
}

/**
 * Servers convert the value to the type of the enumerated one first: a fraction matches the integer it is cut to, an
 * integer the character it encodes. A null matches nothing, not even a null.
 */
function isEnumMatch(value: unknown, candidate: unknown): boolean {
  if (value === null || candidate === null) return false;
  if (isNumeric(value)) {
    if (typeof candidate === "string") return isInt64(value) && characterOf(value) === candidate;
    if (!isNumeric(candidate)) return false;
    if (!isInt64(candidate) || isInt64(value)) return deepEqual(value, candidate);
    return Math.trunc(Number(plainNumber(value))) === Number(candidate);
  }
  return deepEqual(value, candidate);
}

function characterOf(value: number | bigint): string {
  const code = Number(value);
  return code >= 0 && code <= 0x10ffff && !(code >= 0xd800 && code < 0xe000) ? String.fromCodePoint(code) : "\ufffd";
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}
