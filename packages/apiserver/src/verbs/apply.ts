import { badRequest, parseApiVersion } from "@konverge/core";
import { internal, isObject } from "@konverge/schema/patch";
import type { Call } from "../call/call.ts";
import { DecodeError } from "../codec/decode-error.ts";
import { checkFinite } from "../codec/finite-numbers.ts";
import { jsonKind } from "../codec/go-values.ts";
import type { JsonText } from "../codec/json-text.ts";
import { checkValue } from "../codec/part-limit.ts";
import type { WorkingObject } from "../codec/working-object.ts";
import { parseYamlText } from "../codec/yaml-text.ts";
import { bodyText } from "../http/bodies.ts";
import type { WriteParameters } from "../http/query.ts";
import { withFieldManager } from "./managed-fields.ts";

/** Server-side apply of a request's body: a function that lays it over an object, or makes one where there is none. */
export function appliedBy(
  call: Call,
  { fieldManager, fieldValidation, force }: WriteParameters,
): (live: WorkingObject | undefined) => Promise<WorkingObject> {
  const { value: applied, duplicates } = readApplied(call);
  const { codec } = call.version;
  return async (live) => {
    const merged = await withFieldManager(call, (fields) => fields.apply(live, applied, fieldManager, { force }));
    for (const { problem } of duplicates) {
      const whole = `error converting YAML to JSON: ${problem}`;
      if (fieldValidation === "Strict") throw badRequest(`error strict decoding YAML: ${whole}`);
      if (fieldValidation === "Warn") call.warn(whole);
    }
    checkValue(merged);
    const object = decoded(applied, () => codec.decodeMerged(merged));
    codec.applyDefaults(object);
    call.definition.strategy.defaults?.(object);
    return object;
  };
}

/** A value can fit the schema, and not what it is read into: a time, a quantity, base64. */
function decoded<T>(applied: WorkingObject, decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    const { namespace = "", name = "" } = applied.metadata ?? {};
    const { group, version } = parseApiVersion(applied.apiVersion);
    const kind = `${group}/${version}, Kind=${applied.kind}`;
    const problem = `unable to convert unstructured object to ${kind}: ${error.message}`;
    throw internal(`failed to convert new object (${namespace}/${name}; ${kind}) to proper version: ${problem}`);
  }
}

function readApplied(call: Call): { value: WorkingObject; duplicates: JsonText["duplicates"] } {
  const text = bodyText(call.request);
  try {
    const { value, duplicates } = parseYamlText(text);
    checkFinite(value, text);
    if (value === null || isObject(value)) return { value: (value ?? {}) as WorkingObject, duplicates };
    const problem = `json: cannot unmarshal ${jsonKind(value)} into Go value of type map[string]interface {}`;
    throw badRequest(`error decoding YAML: error unmarshaling JSON: while decoding JSON: ${problem}`);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw badRequest(`error decoding YAML: error converting YAML to JSON: ${error.message}`);
  }
}
