import { llmOperatorWith } from "@konverge/llm-operator";
import { exactRole } from "@konverge/operator-suite";
import { monitored } from "./llm-model-scenarios.ts";
import { deafOperator, deploymentQuota, sleeps } from "./model-deployment-scenarios.ts";

exactRole(deafOperator, [monitored, deploymentQuota, sleeps(llmOperatorWith)]);
