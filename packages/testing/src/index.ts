/**
 * Tests of operators on an embedded cluster.
 *
 * A {@link Scenario} runs in a {@link TestEnvironment}: a cluster, a namespace, and operators that run as in production,
 * under exactly their generated role and with their webhooks served. On virtual time, minutes cost nothing and a seed
 * repeats a run. The same scenario runs on a real control plane through another {@link TestBackend}.
 *
 * Survival runs repeat a scenario with one fault each and report what they found: {@link crashRuns} crashes the operator
 * at each of its writes, {@link apiErrorRuns} fails its requests one at a time, {@link deletionRuns} deletes its objects
 * after each write, {@link driftRuns} deletes and edits its children, {@link crdDeletionRuns} deletes its CRDs, and
 * {@link rbacRuns} removes each rule of its role.
 */

export type { Cluster } from "@konverge/cluster";
export {
  type ExploreProgramOptions,
  type ExploreProgress,
  exploreProgram,
  type ProgramExploration,
} from "./black-box/explore-program.ts";
export { PROGRAM_FAULT_FAMILIES } from "./black-box/program-faults.ts";
export type { ProgramRunOptions } from "./black-box/program-run.ts";
export { type ProgramScenario, parseScenario, readScenario, ScenarioError } from "./black-box/scenario-file.ts";
export * from "./environment/embedded-test-backend.ts";
export { OperatorTestEnvironment } from "./environment/operator-test-environment.ts";
export type { Program, ProgramContext } from "./environment/program.ts";
export { serveWebhooksOnPort, UNREACHABLE_WEBHOOK_URL } from "./environment/registrations.ts";
export * from "./environment/run-scenario.ts";
export { bashShell, type Shell } from "./environment/shell.ts";
export type { FaultInjector, TestBackend, WebhookProcess } from "./environment/test-backend.ts";
export * from "./environment/test-environment.ts";
export { ClusterFollower } from "./explorer/cluster-follower.ts";
export { type EndState, endState, endStateDifferences, endStateMask } from "./explorer/end-state.ts";
export { type ExploreOptions, explore, replay } from "./explorer/explore.ts";
export type { RunOptions } from "./explorer/explored-run.ts";
export * from "./explorer/fault.ts";
export { FAULT_FAMILIES, type FaultFamily } from "./explorer/fault-candidates.ts";
export { FaultPlane } from "./explorer/fault-plane.ts";
export * from "./explorer/finding.ts";
export * from "./explorer/oracle.ts";
export { explorationJson, explorationJUnit, writeExploration } from "./explorer/report-files.ts";
export { explorationText, findingText, timelineText } from "./explorer/report-text.ts";
export * from "./explorer/timeline.ts";
export type { ExploredProcess, World } from "./explorer/world.ts";
export * from "./survival/api-error-runs.ts";
export * from "./survival/crash-runs.ts";
export * from "./survival/crd-deletion-runs.ts";
export * from "./survival/deletion-runs.ts";
export * from "./survival/drift-runs.ts";
export type { SurvivalOptions } from "./survival/play-to-end.ts";
export * from "./survival/rbac-runs.ts";
