import { append, type FieldError, goText, goType, isObject, splitSimplePath } from "@konverge/core";
import { invalidValue } from "./field-errors.ts";
import { isInt64, isNumeric } from "./numbers.ts";

/** The paths of the scale subresource of a CRD. */
export interface ScalePaths {
  specReplicasPath: string;
  statusReplicasPath: string;
  labelSelectorPath?: string;
}

/** Checks that what the scale subresource reads is what it can read: replicas that fit 32 bits, a textual selector. */
export function scaleErrors(object: unknown, scale: ScalePaths, options: { statusOnly?: boolean } = {}): FieldError[] {
  const errors = options.statusOnly ? [] : replicaErrors(object, scale.specReplicasPath);
  append(errors, replicaErrors(object, scale.statusReplicasPath));
  if (scale.labelSelectorPath !== undefined && scale.labelSelectorPath !== "") {
    const found = find(object, scale.labelSelectorPath);
    if ("problem" in found) errors.push(invalidValue(scale.labelSelectorPath, "", found.problem));
    else if (found.value !== undefined && typeof found.value !== "string") {
      errors.push(
        invalidValue(
          scale.labelSelectorPath,
          "",
          accessorText(splitSimplePath(scale.labelSelectorPath), found.value, "string"),
        ),
      );
    }
  }
  return errors;
}

function replicaErrors(object: unknown, path: string): FieldError[] {
  const found = find(object, path);
  if ("problem" in found) return [invalidValue(path, 0, found.problem)];
  const { value } = found;
  if (value === undefined) return [];
  if (!isNumeric(value) || !isInt64(value))
    return [invalidValue(path, 0, accessorText(splitSimplePath(path), value, "int64"))];
  if (value < 0) return [invalidValue(path, value, "should be a non-negative integer")];
  return value > 2 ** 31 - 1 ? [invalidValue(path, value, `should be less than or equal to ${2 ** 31 - 1}`)] : [];
}

type Found = { value: unknown } | { problem: string };

function find(object: unknown, path: string): Found {
  const names = splitSimplePath(path);
  let value = object;
  for (const [index, name] of names.entries()) {
    if (value === null) return { value: undefined };
    if (!isObject(value)) return { problem: accessorText(names.slice(0, index + 1), value, "map[string]interface{}") };
    if (!Object.hasOwn(value, name)) return { value: undefined };
    value = value[name];
  }
  return { value };
}

function accessorText(names: readonly string[], value: unknown, expected: string): string {
  return `.${names.join(".")} accessor error: ${goText(value)} is of the type ${goType(value)}, expected ${expected}`;
}
