import { deploy, OPERATOR_IMAGE, operatorCatalog, operatorProgram } from "@konverge/cli";
import { llmOperator } from "@konverge/llm-operator";
import type { TestEnvironment } from "@konverge/operator-suite";

/** Registers the image of an operator with an embedded cluster: pods of the image run it. */
export async function knowsOperator(
  { cluster }: TestEnvironment,
  { module = "@konverge/llm-operator", image = OPERATOR_IMAGE } = {},
): Promise<void> {
  if (!cluster) return;
  const catalog = await operatorCatalog({ modules: [module] });
  cluster.image(image, { run: operatorProgram(catalog, { clock: cluster.clock }) });
}

/**
 * Deploys the LLM operator into the namespace of the test, as `konverge deploy` does. On the embedded cluster it really runs
 * in its pod; on a real control plane with simulated nodes nothing runs in the pod.
 */
export async function deployed(stage: TestEnvironment): Promise<void> {
  const { cluster, namespace, client } = stage;
  await knowsOperator(stage);
  // The pod reaches the cluster by its port, which the first command opens.
  if (cluster) await stage.kubectl("version");
  const image = `${OPERATOR_IMAGE}:0.1.0`;
  await deploy([llmOperator], client, { namespace, image, tell: () => {}, timeout: 90_000 });
}
