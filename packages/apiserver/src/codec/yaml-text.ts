import { MAX_JSON_DEPTH, parseJson, surveyJson } from "@konverge/core";
import { parseYamlDocument, YamlError } from "@konverge/schema";
import { checkContainers, countContainers } from "./container-limit.ts";
import { DecodeError } from "./decode-error.ts";
import { countKeys, type JsonText } from "./json-text.ts";

/** Parses YAML, or JSON, which is YAML too. Throws a {@link DecodeError} that says where it is wrong. */
export function parseYamlText(text: string): JsonText {
  const json = parseAsJson(text);
  if (json) return json;
  try {
    const { value, duplicates } = parseYamlDocument(text);
    checkContainers(countContainers(value));
    if (duplicates.length === 0) return { value, duplicates: [] };
    const problem = `yaml: unmarshal errors:\n  ${duplicates.join("\n  ")}`;
    return { value, duplicates: [{ problem, at: 0 }] };
  } catch (error) {
    throw error instanceof YamlError ? new DecodeError(error.message) : error;
  }
}

/**
 * What programs send as YAML is JSON nearly always, and read as such many times faster. Anything that YAML might see
 * otherwise is left to it: keys that come twice, merge keys, mistakes.
 */
function parseAsJson(text: string): JsonText | undefined {
  if (!/^\s*\{/.test(text) || text.includes('"<<"')) return undefined;
  const { keys, containers, depth } = surveyJson(text);
  checkContainers(containers);
  if (depth > MAX_JSON_DEPTH) return undefined;
  try {
    const value = parseJson(text);
    return countKeys(value) === keys ? { value, duplicates: [] } : undefined;
  } catch {
    return undefined;
  }
}
