import { deepCopy, type FieldError, type Schema } from "@konverge/core";
import { checkRules } from "../../../src/cel/rules/check-rules.ts";
import { validateRules } from "../../../src/cel/rules/validate-rules.ts";
import { applyDefaults } from "../../../src/structural/defaulting.ts";
import { type Judge, masked } from "./judge.ts";

const lines = (errors: readonly FieldError[]) =>
  errors.map(({ field, message }) => masked(`${field}: ${message}`)).sort();

/** This implementation as a judge. */
export const ownJudge: Judge = {
  async refusals(schema) {
    return lines(checkRules(schema, { path: "spec.validation.openAPIV3Schema" }));
  },
  async objects(schema, { created, updated }) {
    const judged = (content: object, old?: object) =>
      lines(
        validateRules(schema, completed(schema, content), old && completed(schema, old), { ratcheting: true }).errors,
      );
    return {
      created: created.map((content) => judged(content)),
      updated: updated.map(([old, content]) => judged(content, old)),
    };
  },
};

/** An object as it is when rules are evaluated. */
function completed(schema: Schema, content: object): object {
  const head = { apiVersion: "cel.example.com/v1", kind: "Case", metadata: { name: "a" } };
  return applyDefaults(schema, { ...head, ...deepCopy(content) });
}
