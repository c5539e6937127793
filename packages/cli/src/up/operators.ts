import type { Cluster } from "@konverge/cluster";
import type { KindRef, KubeObject } from "@konverge/core";
import { isAlreadyExists } from "@konverge/core";
import { CustomResourceDefinition } from "@konverge/kinds";
import { LLMModel, llmModels } from "@konverge/llm-operator";
import { type Controller, run } from "@konverge/runtime";

/** An operator that `konverge up` can run in its own process. */
interface Operator {
  readonly name: string;
  readonly kinds: readonly (KindRef<KubeObject> & { crd(): object })[];
  readonly controllers: readonly Controller[];
}

const OPERATORS: readonly Operator[] = [
  { name: "llm", kinds: [LLMModel as never], controllers: [llmModels as Controller] },
];

/** The operators that are asked for: `all`, `none` or names with commas between them. */
export function chosenOperators(text: string): readonly Operator[] {
  if (text === "all") return OPERATORS;
  if (text === "none" || text === "") return [];
  return text.split(",").map((name) => {
    const found = OPERATORS.find((operator) => operator.name === name.trim());
    if (found) return found;
    const known = OPERATORS.map((operator) => operator.name).join(", ");
    throw new Error(`there is no operator named ${name.trim()}: --operators takes all, none, or some of ${known}`);
  });
}

/** Installs the kinds of operators and starts their controllers; returns how to stop them. */
export async function runOperators(operators: readonly Operator[], cluster: Cluster): Promise<() => Promise<void>> {
  const { client } = cluster;
  for (const kind of operators.flatMap(({ kinds }) => kinds)) {
    await client.create(CustomResourceDefinition, kind.crd() as never).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
  }
  const managers = await Promise.all(
    operators.flatMap(({ controllers }) => controllers.map((controller) => run(controller, { client }))),
  );
  return async () => {
    await Promise.all(managers.map((manager) => manager.stop()));
  };
}
