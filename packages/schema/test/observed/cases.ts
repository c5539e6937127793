import { deepCopy, parseJson, type Schema, stringifyJson, WholeFloat } from "@konverge/core";
import { coerce } from "../../src/structural/coerce.ts";
import { applyDefaults } from "../../src/structural/defaulting.ts";
import { structuralErrors } from "../../src/validation/structural-errors.ts";
import { validateValue } from "../../src/validation/validate.ts";
import { FORMAT_CASES, FORMAT_SCHEMA } from "./format-cases.ts";
import { causeText, type Observation } from "./recording.ts";
import { SCHEMA_CASES } from "./schema-cases.ts";
import { OLD_SPEC, UPDATE_CASES, updateSchema } from "./update-cases.ts";
import { VALUE_CASES, VALUE_SCHEMA } from "./value-cases.ts";

/** Something to ask an API server, and our own answer to it. */
export type Case = { name: string } & (
  | { kind: "object"; schema: Schema; spec: unknown }
  | { kind: "schema"; schema: Schema }
  | { kind: "update"; spec: unknown }
);

export function allCases(): Case[] {
  const object = (schema: Schema, field: string, value: unknown): Case => {
    return {
      kind: "object",
      name: `${field} ${value instanceof WholeFloat ? `${value.value}.0` : stringifyJson(value)}`,
      schema,
      spec: { [field]: value },
    };
  };
  return [
    ...Object.entries(VALUE_CASES).flatMap(([field, [, values]]) =>
      values.map((value) => object(VALUE_SCHEMA, field, value)),
    ),
    ...Object.entries(FORMAT_CASES).flatMap(([field, texts]) =>
      texts.map((text) => object(FORMAT_SCHEMA, field, text)),
    ),
    ...Object.entries(SCHEMA_CASES).map(
      ([name, schema]): Case => ({ kind: "schema", name: `schema ${name}`, schema: schema as Schema }),
    ),
    ...UPDATE_CASES.map((spec, index): Case => ({ kind: "update", name: `update ${index}`, spec })),
  ];
}

/** A cluster-scoped resource that a case is about. */
export function resource(spec: unknown): { apiVersion: string; kind: string; metadata: object; spec: unknown } {
  return { apiVersion: "structural.example.com/v1", kind: "Case", metadata: { name: "a" }, spec };
}

/** What this package makes of a case. */
export function answer(aCase: Case): Observation {
  if (aCase.kind === "schema") {
    const errors = structuralErrors(aCase.schema, { path: "spec.validation.openAPIV3Schema" });
    return { status: errors.length > 0 ? 422 : 201, problems: errors.map(causeText).sort() };
  }
  if (aCase.kind === "update") {
    const errors = validateValue(updateSchema(true), resource(aCase.spec), { old: resource(OLD_SPEC) });
    return { status: errors.length > 0 ? 422 : 200, problems: errors.map(causeText).sort() };
  }
  const candidate = deepCopy(resource(aCase.spec));
  const { unknown = [], error } = coerce(aCase.schema, candidate);
  if (error) return { status: 400, problems: [causeText(error)] };
  if (unknown.length > 0) return { status: 400, problems: unknown.map((path) => `unknown field "${path}"`).sort() };
  applyDefaults(aCase.schema, candidate);
  const errors = validateValue(aCase.schema, candidate);
  if (errors.length > 0) return { status: 422, problems: errors.map(causeText).sort() };
  return { status: 201, problems: [], spec: parseJson(stringifyJson(candidate.spec)) };
}
