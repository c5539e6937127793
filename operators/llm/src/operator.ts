import { type Operator, operator } from "konverge";
import { type FetchMetrics, fetchMetricsText } from "konverge/sizing";
import { LLMModel } from "./llm-model.ts";
import { llmModelAdmission } from "./llm-model-admission.ts";
import { llmModelController } from "./llm-model-controller.ts";
import { ModelMetrics } from "./metrics.ts";
import { ModelDeployment } from "./model-deployment.ts";
import { modelDeploymentAdmission } from "./model-deployment-admission.ts";
import { modelDeploymentController } from "./model-deployment-controller.ts";

/** The operator with a custom way to read the servers' metrics: for tests, and for networks that need one. */
export function llmOperatorWith(fetchMetrics: FetchMetrics): Operator {
  return operator({
    name: "llm-operator",
    description: "Serves large language models on GPUs.",
    kinds: [LLMModel, ModelDeployment],
    connectsToPods: true,
    create({ metrics }) {
      const modelMetrics = new ModelMetrics(metrics);
      return {
        controllers: [llmModelController(modelMetrics), modelDeploymentController(fetchMetrics, modelMetrics)],
        admissions: [llmModelAdmission(), modelDeploymentAdmission()],
      };
    },
  });
}

/** Everything of this package in one: what `konverge run`, `install` and `deploy` take. */
export const llmOperator = llmOperatorWith(fetchMetricsText);
