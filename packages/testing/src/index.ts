/**
 * Tests of operators on an embedded cluster.
 *
 * A {@link Scenario} runs in a {@link TestEnvironment}: a cluster, a namespace, and operators that run as in production,
 * under exactly their generated role and with their webhooks served. On virtual time, minutes cost nothing and a seed
 * repeats a run. The same scenario runs on a real control plane through another {@link TestBackend}.
 *
 * {@link explore} repeats a scenario with faults at every point (crashes, failing requests, stale reads, missed events, other
 * writers …), judges each run by oracles, and reports each finding with the fewest faults and a timeline. {@link checkOperator}
 * does it for an operator without a scenario, and {@link exploreProgram} for an operator in any language, as a process behind
 * a proxy. {@link rehearse} runs the next version of an operator on the state of a live cluster, and reports what it does that the
 * present one does not.
 */

export type { Cluster } from "@konverge/cluster";
export {
  type ExploreProgramOptions,
  exploreProgram,
  type ProgramExploration,
  UnstableScenario,
} from "./black-box/explore-program.ts";
export { InClusterError } from "./black-box/in-cluster-account.ts";
export type { ObservedAccess, ProgramAccess } from "./black-box/program-access.ts";
export { PROGRAM_FAULT_FAMILIES } from "./black-box/program-faults.ts";
export { ProgramProcess } from "./black-box/program-process.ts";
export { ProgramProxy } from "./black-box/program-proxy.ts";
export type { ProgramRunOptions } from "./black-box/program-run.ts";
export { type ProgramScenario, parseScenario, readScenario, type ScenarioProgram } from "./black-box/scenario-file.ts";
export { ScenarioError } from "./black-box/scenario-node.ts";
export { applyObject, RunStopped, ScenarioPlayer } from "./black-box/scenario-player.ts";
export {
  type ConversionLossesOptions,
  conversionLosses,
  type VersionedKind,
} from "./conversion/conversion-losses.ts";
export * from "./environment/embedded-test-backend.ts";
export { OperatorTestEnvironment } from "./environment/operator-test-environment.ts";
export type { Program, ProgramContext } from "./environment/program.ts";
export { serveWebhooksOnPort, UNREACHABLE_WEBHOOK_URL } from "./environment/registrations.ts";
export * from "./environment/run-scenario.ts";
export type { LaunchedProcess, LaunchOptions, RunnableOperator } from "./environment/runnable-operator.ts";
export { bashShell, type Shell } from "./environment/shell.ts";
export type { FaultInjector, TestBackend, WebhookProcess } from "./environment/test-backend.ts";
export * from "./environment/test-environment.ts";
export { acceptedFindingsIn, acceptFindings } from "./explorer/accepted-findings.ts";
export { assertNoFindings } from "./explorer/assert-no-findings.ts";
export { type CheckOperatorOptions, checkOperator } from "./explorer/check-operator.ts";
export { ClusterFollower } from "./explorer/cluster-follower.ts";
export { type EndState, endState, endStateDifferences, endStateMask } from "./explorer/end-state.ts";
export { type ExploreOptions, explore, replay } from "./explorer/explore.ts";
export type { RunOptions } from "./explorer/explored-run.ts";
export type { ExternalFault, ExternalOutcome } from "./explorer/external-fault.ts";
export type { ExternalState } from "./explorer/external-plane.ts";
export * from "./explorer/fault.ts";
export { FAULT_FAMILIES, type FaultFamily, familyOf, POINT_FAMILIES } from "./explorer/fault-family.ts";
export { FaultPlane } from "./explorer/fault-plane.ts";
export { differingFields, type FieldDifference, valueText } from "./explorer/field-differences.ts";
export * from "./explorer/finding.ts";
export { findingPage } from "./explorer/finding-page.ts";
export { type AcceptedFinding, Findings } from "./explorer/findings.ts";
export type { ExplorationLimits } from "./explorer/limits.ts";
export { mergedParts } from "./explorer/merged-explorations.ts";
export * from "./explorer/oracle.ts";
export { oracleMeaning } from "./explorer/oracle-meaning.ts";
export type { ExplorationPart } from "./explorer/part.ts";
export { type PassedFaults, passedFaultsIn } from "./explorer/passed-faults.ts";
export { explorationJson, explorationJUnit, writeExploration } from "./explorer/report-files.ts";
export { explorationText, findingText, timelineText } from "./explorer/report-text.ts";
export * from "./explorer/timeline.ts";
export type { ExploredProcess, World } from "./explorer/world.ts";
export {
  type AroundExternalCall,
  type ExternalCall,
  type ExternalCaller,
  type ExternalResourceState,
  type ExternalSystemOptions,
  externalSystem,
} from "./external/external-system.ts";
export { type ExploreGoOptions, exploreGo } from "./go/explore-go.ts";
export { buildGoProgram, type GoBuildOptions } from "./go/go-build.ts";
export { GoModule, GoProgramError } from "./go/go-module.ts";
export { GoProgram } from "./go/go-program.ts";
export type { GoProgramOptions } from "./go/go-program-options.ts";
export { scenarioOnVirtualTime } from "./go/scenario-on-virtual-time.ts";
export {
  checkRole,
  type RoleCheck,
  type RunUnderRole,
} from "./program-permissions/check-role.ts";
export { exploreRole, type RunWithoutRule } from "./program-permissions/explore-role.ts";
export {
  type LearnedRole,
  type LearnRoleOptions,
  learnRole,
  ScenarioFailed,
} from "./program-permissions/learn-role.ts";
export { learnedRoleText, roleCheckLines } from "./program-permissions/role-text.ts";
export {
  readShippedRole,
  type ServiceAccountName,
  type ShippedRole,
  ShippedRoleError,
  type ShippedRule,
} from "./program-permissions/shipped-role.ts";
export type { UnusedGrant } from "./program-permissions/unused-grants.ts";
export * from "./rehearse/rehearsal.ts";
export { rehearsalJson, writeRehearsal } from "./rehearse/rehearsal-files.ts";
export { rehearsalJUnit, rehearsalPage, rehearsalText } from "./rehearse/rehearsal-text.ts";
export { type RehearseOptions, rehearse } from "./rehearse/rehearse.ts";
