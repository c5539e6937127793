import { readFileSync } from "node:fs";
import { join } from "node:path";
import { operatorObjects } from "@konverge/cli";
import { LLMModel, llmOperator, ModelDeployment } from "@konverge/llm-operator";
import { printYaml } from "@konverge/schema";

const FOLDER = join(import.meta.dirname, "../../operators/llm/tutorial");

/** The manifests of the tutorial, as they follow from the definitions: path and text. */
export function tutorialFiles(): { path: string; text: string }[] {
  const { serviceAccount, roles, service, webhooks, deployment } = operatorObjects(llmOperator, {
    namespace: "default",
    image: "konverge/operators:0.1.0",
  });
  const operator = [ModelDeployment.crd(), serviceAccount, ...roles, service, ...webhooks, deployment];
  return [
    {
      path: join(FOLDER, "01-what-is-crd.yaml"),
      text: `# What a model is: names, fields, and what is allowed in them. It runs nothing.\n${printYaml(LLMModel.crd())}`,
    },
    {
      path: join(FOLDER, "02-simple-operator.yaml"),
      text: `# The operator: who it is, what it may do, and the Deployment that runs it.\n${operator.map((one) => printYaml(one)).join("---\n")}`,
    },
  ];
}

/** The paths of those that are not as they should be. */
export function outdatedTutorialFiles(): string[] {
  return tutorialFiles()
    .filter(({ path, text }) => read(path) !== text)
    .map(({ path }) => path);
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
