import { controller, formatLabelSelector } from "konverge";
import { Deployment, PodDisruptionBudget, Service } from "konverge/kinds";
import { LLMModel } from "./llm-model.ts";
import { deploymentFor, disruptionBudgetFor, labelsOf, serviceFor } from "./llm-model-children.ts";

/**
 * Keeps a Deployment, a Service and a PodDisruptionBudget for each LLMModel. Ready, Progressing and Degraded follow from
 * how these children are doing.
 */
export const llmModels = controller(LLMModel, {
  owns: [Deployment, Service, PodDisruptionBudget],
  reconcile(model, { observed }) {
    const deployment = deploymentFor(model);
    const { replicas, readyReplicas } = observed(deployment)?.status ?? {};
    return {
      children: [deployment, serviceFor(model), disruptionBudgetFor(model)],
      status: {
        replicas: replicas ?? 0,
        readyReplicas: readyReplicas ?? 0,
        selector: formatLabelSelector({ matchLabels: labelsOf(model) }),
      },
    };
  },
});
