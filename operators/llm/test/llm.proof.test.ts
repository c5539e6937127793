import { llmOperator, llmOperatorWith } from "@konverge/llm-operator";
import { exactRole, survivesCrashes } from "@konverge/operator-suite";
import { converges, monitored } from "./llm-model-scenarios.ts";
import { deafOperator, deployment, deploymentQuota, sleeps, untilDeployed } from "./model-deployment-scenarios.ts";

exactRole(deafOperator, [monitored, deploymentQuota, sleeps(llmOperatorWith)]);
survivesCrashes("an LLMModel converges whenever the operator dies", llmOperator, converges);
survivesCrashes("a ModelDeployment converges whenever the operator dies", deafOperator, async (stage) => {
  await stage.start(deafOperator);
  await stage.apply(deployment("chat", { model: "m", replicas: 2 }));
  await untilDeployed(stage, "chat", 2);
});
