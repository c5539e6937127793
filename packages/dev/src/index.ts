/**
 * What tests of an operator need: {@link startCluster} starts a Kubernetes cluster in this process, {@link runScenario} runs an
 * operator in it as in production, under its generated role, and the survival runs ({@link crashRuns}, {@link apiErrorRuns},
 * {@link deletionRuns}, {@link driftRuns}, {@link crdDeletionRuns}, {@link rbacRuns}) repeat a scenario with one fault each.
 */
export {
  type Cluster,
  type ClusterOptions,
  type ForkOptions as ForkClusterOptions,
  gpuNodes,
  type NodeShape,
  NotSettledError,
  plainNodes,
  type SettledOptions,
  startCluster,
} from "@konverge/cluster";
export {
  type ApiErrorFindings,
  type ApiErrorRunOptions,
  apiErrorRuns,
  type CommandResult,
  type CrashFindings,
  type CrashRunOptions,
  type CrdDeletionFindings,
  crashRuns,
  crdDeletionRuns,
  type DeletionFindings,
  type DeletionRunOptions,
  type DriftFindings,
  type DriftRunOptions,
  deletionRuns,
  driftRuns,
  type RbacFindings,
  type RequestFault,
  type RunningOperator,
  rbacRuns,
  runScenario,
  type Scenario,
  type ShellOptions,
  type StartOperatorOptions,
  type SurvivalOptions,
  type TestEnvironment,
  type TestEnvironmentOptions,
} from "@konverge/testing";
