import type { FieldError } from "konverge";
import { podTemplateErrors } from "konverge/pods";
import { fieldForbidden, fieldInvalid } from "konverge/webhooks";
import type { ServingSpec } from "./serving-spec.ts";

/** What is wrong with the fields that both kinds share, beyond what the schema can say. */
export function servingErrors(spec: ServingSpec, ownArgs: readonly string[]): FieldError[] {
  const errors: FieldError[] = [];
  for (const [i, arg] of (spec.args ?? []).entries()) {
    const flag = arg.split("=")[0]!;
    if (ownArgs.includes(flag)) {
      errors.push(fieldForbidden(`spec.args[${i}]`, `${flag} is derived from other fields: set those instead`));
    }
  }
  for (const [i, { name }] of (spec.env ?? []).entries()) {
    if (name === "MODEL_NAME") {
      errors.push(fieldForbidden(`spec.env[${i}]`, "MODEL_NAME is derived from the model's name: set that instead"));
    }
  }
  if (spec.modelPath?.split("/").includes("..")) {
    errors.push(fieldInvalid("spec.modelPath", spec.modelPath, "must not contain .."));
  }
  return [...errors, ...podTemplateErrors(spec.template)];
}
