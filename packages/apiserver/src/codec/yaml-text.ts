import { MAX_JSON_DEPTH, parseJson, surveyJson } from "@konverge/core";
import { parseDocument } from "yaml";
import { DecodeError } from "./index.ts";
import { countKeys, type Duplicate, type JsonText } from "./json-text.ts";

/** Parses YAML, or JSON, which is YAML too. Throws a {@link DecodeError} that says where it is wrong. */
export function parseYamlText(text: string): JsonText {
  const json = parseAsJson(text);
  if (json) return json;
  const document = parseDocument(text, { intAsBigInt: true, uniqueKeys: false, version: "1.1", merge: true });
  const [error] = document.errors;
  if (error) {
    const line = error.linePos?.[0].line ?? 1;
    throw new DecodeError(`yaml: line ${line}: ${error.message.split("\n")[0]!.replace(/ at line .*$/, "")}`);
  }
  return { value: plainNumbers(document.toJS()), duplicates: duplicateKeys(text) };
}

/**
 * What programs send as YAML is JSON nearly always, and read as such a hundred times faster. Anything that YAML might see
 * otherwise is left to it: keys that come twice, merge keys, mistakes.
 */
function parseAsJson(text: string): JsonText | undefined {
  if (!/^\s*\{/.test(text) || text.includes('"<<"')) return undefined;
  const { keys, depth } = surveyJson(text);
  if (depth > MAX_JSON_DEPTH) return undefined;
  try {
    const value = parseJson(text);
    return countKeys(value) === keys ? { value, duplicates: [] } : undefined;
  } catch {
    return undefined;
  }
}

function duplicateKeys(text: string): Duplicate[] {
  return parseDocument(text, { uniqueKeys: true })
    .errors.filter(({ code }) => code === "DUPLICATE_KEY")
    .map((error) => {
      const line = error.linePos?.[0].line ?? 1;
      const key = text.slice(error.pos[0]).match(/^["']?([^"':\s]+)/)?.[1] ?? "";
      return { field: `line ${line}: key ${JSON.stringify(key)} already set in map`, at: error.pos[0] };
    });
}

function plainNumbers(value: unknown): unknown {
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (Array.isArray(value)) return value.map(plainNumbers);
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Date) return value.toISOString();
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plainNumbers(item)]));
}
