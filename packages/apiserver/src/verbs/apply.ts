import { badRequest } from "@konverge/core";
import { isObject } from "@konverge/schema/patch";
import { jsonKind } from "../codec/go-values.ts";
import { DecodeError, type JsonText, parseYamlText } from "../codec/index.ts";
import type { WorkingObject } from "../codec/working-object.ts";
import { bodyText } from "../http/bodies.ts";
import type { WriteParameters } from "../http/query.ts";
import type { Call } from "./call.ts";
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
    if (duplicates.length > 0) {
      const lines = duplicates.map(({ field }) => field);
      const problem = `yaml: unmarshal errors:\n  ${lines.join("\n  ")}`;
      if (fieldValidation === "Strict")
        throw badRequest(`error strict decoding YAML: error converting YAML to JSON: ${problem}`);
      if (fieldValidation === "Warn") for (const line of lines) call.warn(line);
    }
    const object = codec.decodeMerged(merged);
    codec.applyDefaults(object);
    call.definition.strategy.defaults?.(object);
    return object;
  };
}

function readApplied(call: Call): { value: WorkingObject; duplicates: JsonText["duplicates"] } {
  try {
    const { value, duplicates } = parseYamlText(bodyText(call.request));
    if (value === null || isObject(value)) return { value: (value ?? {}) as WorkingObject, duplicates };
    const problem = `json: cannot unmarshal ${jsonKind(value)} into Go value of type map[string]interface {}`;
    throw new DecodeError(`error unmarshaling JSON: while decoding JSON: ${problem}`);
  } catch (error) {
    throw error instanceof DecodeError ? badRequest(`error decoding YAML: ${error.message}`) : error;
  }
}
