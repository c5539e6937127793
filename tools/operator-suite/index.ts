/**
 * Tests of this repository's operators: one scenario, played on the embedded cluster and on a real control plane.
 *
 * A scenario is a function of a {@link TestEnvironment} that asserts what it expects. {@link onEmbedded} and {@link onReal}
 * declare it as a test; on the real one its role is judged as well. Survival tests run it many times: {@link survivesFaults}
 * with every fault at every point, {@link survivesCrashesAndErrors} with some of them, {@link survivesDeletion} deletes its
 * objects in each phase, {@link repairsChildren} deletes and edits its children, {@link survivesSpecChanges} changes specs
 * back and forth, {@link survivesCrdDeletion} deletes its CRDs, and {@link exactRole} removes each permission. They are based
 * on `@konverge/testing`; this package adds the real control plane, kubectl, and the integration with node:test.
 *
 * ```ts
 * const converges: Scenario = async (env) => {
 *   await env.start(llmOperator);
 *   await env.apply(sample);
 *   await env.until("it is ready", async () => (await env.condition(LLMModel, "llama", "Ready")) === "True AsExpected");
 * };
 * onEmbedded("a model converges", converges);
 * survivesFaults("a model converges, whatever fails", llmOperator, converges);
 * ```
 */

export {
  type CommandResult,
  type RequestFault,
  type RunningOperator,
  replay,
  type Scenario,
  type StartOperatorOptions,
  type TestEnvironment,
} from "@konverge/testing";
export { isReported, lateNode, onEmptyCluster, quotaOfPods, type Report, unpullable } from "./bad-input.ts";
export { allowPrivileged } from "./clearing.ts";
export { customMetrics, registerMetricsAdapter } from "./custom-metrics.ts";
export { exactRole, onEmbedded, onReal, playOnEmbedded, type RealOptions, type StageOptions } from "./declare.ts";
export { foreignDefinition, installForeignKind } from "./foreign-kind.ts";
export { kubectlFolder } from "./kubectl.ts";
export { monitoringIsTrue } from "./monitoring.ts";
export { withNarrowerDefinition } from "./narrower-definition.ts";
export { hasPodFeatures, podFeatures } from "./pod-features.ts";
export { kwokNode, type RealGround, type RealStages, realStages } from "./real-ground.ts";
export { renderedFields } from "./rendered-fields.ts";
export { SimulatedLoad } from "./simulated-load.ts";
export {
  repairsChildren,
  type SurvivalOptions,
  survivesCrashesAndErrors,
  survivesCrdDeletion,
  survivesDeletion,
  survivesFaults,
  survivesSpecChanges,
} from "./survival.ts";
export { attachVolumes, supplyVolumes } from "./volumes.ts";
