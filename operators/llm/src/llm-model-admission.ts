import { admissionWebhook } from "konverge/webhooks";
import { LLMModel } from "./llm-model.ts";
import { modelNameOf } from "./llm-model-children.ts";
import { servingErrors } from "./serving-admission.ts";

/**
 * Fills in the model's name and refuses arguments that contradict other fields. Without it nothing dangerous gets in, since
 * the schema is checked in any case: writes pass while the operator is away.
 */
export function llmModelAdmission() {
  return admissionWebhook(LLMModel, {
    failurePolicy: "Ignore",
    mutate(draft) {
      draft.spec.modelName ??= draft.metadata.name;
    },
    validate: (model) => servingErrors(model.spec, modelNameOf(model)),
  });
}
