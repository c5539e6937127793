/** `matches`, `find` and `findAll`: RE2 patterns, so that no pattern can take more than linear time. */
import { RE2JS } from "re2js";
import type { Library } from "../types/declarations.ts";
import { ListValue } from "../values/collections.ts";
import { CelError, noSuchOperator, noSuchOverload, type Value } from "../values/values.ts";

const compiled = new Map<string, RE2JS | CelError>();
const MOST_COMPILED = 1000;

/** The compiled pattern, or the error that Go's regexp package gives. */
export function compilePattern(pattern: string): RE2JS | CelError {
  let found = compiled.get(pattern);
  if (!found) {
    found = compile(pattern);
    if (compiled.size >= MOST_COMPILED) compiled.clear();
    compiled.set(pattern, found);
  }
  return found;
}

function compile(pattern: string): RE2JS | CelError {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    return new CelError((error as Error).message);
  }
}

/** `matches`, with a pattern that is only known now. */
export function matches(text: Value, pattern: Value): Value {
  if (typeof text !== "string") return noSuchOperator(text, "matches");
  if (typeof pattern !== "string") return noSuchOverload(pattern);
  const regex = compilePattern(pattern);
  return regex instanceof CelError ? regex : regex.matcher(text).find();
}

function illegal(error: CelError): CelError {
  return new CelError(`Illegal regex: ${error.message}`);
}

function find(text: string, pattern: string): Value {
  const regex = compilePattern(pattern);
  if (regex instanceof CelError) return illegal(regex);
  const matcher = regex.matcher(text);
  return matcher.find() ? (matcher.group() ?? "") : "";
}

function findAll(text: string, pattern: string, limit = -1n): Value {
  const regex = compilePattern(pattern);
  if (regex instanceof CelError) return illegal(regex);
  const matcher = regex.matcher(text);
  const found: Value[] = [];
  while ((limit < 0n || BigInt(found.length) < limit) && matcher.find()) found.push(matcher.group() ?? "");
  return new ListValue(found);
}

/** Kubernetes' functions of regular expressions. */
export const regex: Library = {
  overloads: [
    ["string_find_string", "string.find(string): string", find],
    ["string_find_all_string", "string.findAll(string): list(string)", findAll],
    ["string_find_all_string_int", "string.findAll(string, int): list(string)", findAll],
  ],
};
