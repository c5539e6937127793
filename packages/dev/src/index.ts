/**
 * What tests of an operator need: {@link startCluster} starts a Kubernetes cluster in this process, {@link runScenario} runs an
 * operator in it as in production, under its generated role, and {@link explore} repeats a scenario with faults at every point.
 */
export {
  type Cluster,
  type ClusterFaults,
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
  type CommandResult,
  type ConversionLossesOptions,
  checkOperator,
  conversionLosses,
  type Exploration,
  type ExploreOptions,
  explorationText,
  explore,
  type Fault,
  type FaultFamily,
  type Finding,
  findingPage,
  findingText,
  type Invariant,
  type Oracle,
  type Program,
  type RequestFault,
  type RunningOperator,
  replay,
  runScenario,
  type Scenario,
  type ShellOptions,
  type StartOperatorOptions,
  type TestEnvironment,
  type TestEnvironmentOptions,
  type VersionedKind,
} from "@konverge/testing";
