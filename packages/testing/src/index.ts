/**
 * Tests of operators on an embedded cluster.
 *
 * A {@link Scenario} is played on a {@link Stage}: a cluster, a namespace, and operators that run there as they would in
 * production, under exactly the role that is generated for them, with their webhooks asked. On virtual time minutes cost
 * nothing and a seed repeats a run. The same scenario can be played on a real control plane: whoever provides a
 * {@link Ground} gets a stage on it.
 *
 * Proofs play a scenario many times and say what they found: {@link crashRuns} crashes the operator at each of its writes,
 * {@link apiErrorRuns} fails its requests one at a time, {@link deletionRuns} deletes its objects after each write,
 * {@link driftRuns} deletes and edits its children, {@link crdDeletionRuns} takes its definitions away, and
 * {@link rbacRuns} takes away each rule of its role.
 */

export type { Cluster } from "@konverge/cluster";
export * from "./proofs/api-error-runs.ts";
export * from "./proofs/crash-runs.ts";
export * from "./proofs/crd-deletion-runs.ts";
export * from "./proofs/deletion-runs.ts";
export { endState, endStateDifferences } from "./proofs/end-state.ts";
export type { SurvivalOptions } from "./proofs/play-to-end.ts";
export * from "./proofs/repair-runs.ts";
export * from "./proofs/role-runs.ts";
export * from "./stage/embedded-ground.ts";
export * from "./stage/embedded-stage.ts";
export type { FaultInjector, TestBackend, WebhookProcess } from "./stage/ground.ts";
export { OperatorTestEnvironment } from "./stage/operator-stage.ts";
export { serveWebhooksOnPort, UNREACHABLE_WEBHOOK_URL } from "./stage/registrations.ts";
export { bashShell, type Shell } from "./stage/shell.ts";
export * from "./stage/stage.ts";
