import { MAX_JSON_DEPTH, parseJson, surveyJson } from "@konverge/core";
import { parseYamlDocument, YamlError, YamlLimitError } from "@konverge/schema";
import { DecodeError } from "./decode-error.ts";
import { countKeys, type JsonText } from "./json-text.ts";
import { checkSurvey, checkValue, MOST_YAML_NODES, tooManyParts } from "./part-limit.ts";

/** Parses YAML, or JSON, which is YAML too. Throws a {@link DecodeError} that says where it is wrong. */
export function parseYamlText(text: string): JsonText {
  const json = parseAsJson(text);
  if (json) return json;
  try {
    const { value, duplicates } = parseYamlDocument(text, { mostNodes: MOST_YAML_NODES });
    checkValue(value);
    if (duplicates.length === 0) return { value, duplicates: [] };
    const problem = `yaml: unmarshal errors:\n  ${duplicates.join("\n  ")}`;
    return { value, duplicates: [{ problem, at: 0 }] };
  } catch (error) {
    if (error instanceof YamlLimitError) throw tooManyParts(error.message);
    throw error instanceof YamlError ? new DecodeError(error.message) : error;
  }
}

/**
 * What programs send as YAML is JSON nearly always, and read as such many times faster. Anything that YAML might see
 * otherwise is left to it: keys that come twice, merge keys, mistakes.
 */
function parseAsJson(text: string): JsonText | undefined {
  if (!/^\s*\{/.test(text) || text.includes('"<<"')) return undefined;
  const survey = surveyJson(text);
  checkSurvey(survey);
  if (survey.depth > MAX_JSON_DEPTH) return undefined;
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    return undefined;
  }
  const keys = countKeys(value);
  checkValue(value);
  return keys === survey.keys ? { value, duplicates: [] } : undefined;
}
