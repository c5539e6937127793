import { type AnyObject, badRequest } from "@konverge/core";
import { isObject } from "@konverge/schema/patch";
import { DecodeError, parseYamlText } from "../codec/index.ts";
import { bodyText } from "../http/bodies.ts";
import type { WriteParameters } from "../http/query.ts";
import type { Call } from "./call.ts";
import { fieldManagerFor } from "./managed-fields.ts";

/** Server-side apply of a request's body: a function that lays it over an object, or makes one where there is none. */
export function appliedBy(
  call: Call,
  { fieldManager, fieldValidation, force }: WriteParameters,
): (live: AnyObject | undefined) => AnyObject {
  const { value: applied, duplicates } = readApplied(call);
  const { codec } = call.version;
  return (live) => {
    const merged = fieldManagerFor(call).apply(live, applied, fieldManager, { force });
    if (duplicates.length > 0) {
      const problem = `yaml: unmarshal errors:\n  ${duplicates.join("\n  ")}`;
      if (fieldValidation === "Strict")
        throw badRequest(`error strict decoding YAML: error converting YAML to JSON: ${problem}`);
      if (fieldValidation === "Warn") for (const duplicate of duplicates) call.warn(duplicate);
    }
    const { object } = codec.decode(merged);
    codec.applyDefaults(object);
    call.definition.strategy.defaults?.(object);
    return object;
  };
}

function readApplied(call: Call): { value: AnyObject; duplicates: readonly string[] } {
  try {
    const { value, duplicates } = parseYamlText(bodyText(call.request));
    if (isObject(value)) return { value: value as AnyObject, duplicates };
    throw new DecodeError(
      "json: cannot unmarshal a value that is no object into Go value of type map[string]interface {}",
    );
  } catch (error) {
    throw error instanceof DecodeError ? badRequest(`error decoding YAML: ${error.message}`) : error;
  }
}
