import { deploy, OPERATOR_IMAGE, operatorProgram } from "@konverge/cli";
import type { TestEnvironment } from "@konverge/operator-suite";
import type { Operator } from "@konverge/runtime";

/**
 * Deploys an operator into the stage's namespace, as `konverge deploy` does. On the embedded cluster it really runs in its
 * pod; on a real control plane with simulated nodes the pod is there, and nobody is in it.
 */
export async function deployed(stage: TestEnvironment, operator: Operator): Promise<void> {
  const { cluster, namespace, client } = stage;
  if (cluster) {
    cluster.image(OPERATOR_IMAGE, { run: operatorProgram(cluster.clock, async () => [operator]) });
    // The pod reaches the cluster by its port, which the first command opens.
    await stage.kubectl("version");
  }
  await deploy([operator], client, { namespace, image: `${OPERATOR_IMAGE}:0.1.0`, tell: () => {}, timeout: 90_000 });
}
