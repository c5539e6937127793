/** Parameters of instances: their values, and what is wrong with them. Pure. */
import { isObject } from "@konverge/core";
import { parseYaml } from "@konverge/schema";
import type { OperatorVersion, Parameter } from "./kudo-kinds.ts";

export type ParameterValues = Readonly<Record<string, string>>;

/** The parameters with the values that templates get: those of the instance above the defaults. */
export function valuesOf(version: OperatorVersion, given: ParameterValues = {}) {
  return (version.spec?.parameters ?? []).map((one) => ({
    name: one.name ?? "",
    type: one["value-type"] ?? "string",
    value: given[one.name ?? ""] ?? one.default ?? "",
  }));
}

/** What is wrong with the parameters of an instance; undefined if nothing is. */
export function parameterProblem(version: OperatorVersion, given: ParameterValues = {}): string | undefined {
  for (const one of version.spec?.parameters ?? []) {
    const value = given[one.name ?? ""] ?? "";
    if (one.required === true && one.default === undefined && value === "") {
      return `parameter "${one.name}" is required but has no value set`;
    }
    const problem = value === "" ? undefined : valueProblem(one, value);
    if (problem !== undefined) return `parameter "${one.name}" has an invalid value "${value}": ${problem}`;
  }
  return undefined;
}

function valueProblem({ "value-type": type, enum: allowed }: Parameter, value: string): string | undefined {
  if (!hasType(type, value)) return `type is "${type}", but its format is invalid`;
  if (allowed && !allowed.includes(value)) {
    return `value is "${value}", but only allowed values are [${allowed.join(" ")}]`;
  }
  return undefined;
}

/** As Go's strconv and YAML read them. */
function hasType(type: string | undefined, value: string): boolean {
  switch (type) {
    case "integer":
      return /^[+-]?\d+$/.test(value) && BigInt.asIntN(64, BigInt(value)) === BigInt(value);
    case "number":
      return /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(value);
    case "boolean":
      return /^(1|t|T|TRUE|true|True|0|f|F|FALSE|false|False)$/.test(value);
    case "array":
      return Array.isArray(yamlValue(value) ?? []);
    case "map":
      return isObject(yamlValue(value) ?? {});
    default:
      return true;
  }
}

function yamlValue(value: string): unknown {
  try {
    return parseYaml(value)[0];
  } catch {
    return "not YAML";
  }
}

/** The defaults of immutable parameters become values when an instance is created: later versions cannot change them. */
export function withImmutableDefaults(version: OperatorVersion, given: ParameterValues = {}): ParameterValues {
  const fixed = (version.spec?.parameters ?? []).filter((one) => one.immutable && one.default !== undefined);
  return { ...Object.fromEntries(fixed.map((one) => [one.name!, one.default!])), ...given };
}
