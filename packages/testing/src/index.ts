/**
 * Tests of operators on an embedded cluster.
 *
 * A {@link Scenario} is played on a {@link Stage}: a cluster, a namespace, and operators that run there as they would in
 * production, under exactly the role that is generated for them, with their webhooks asked. On virtual time minutes cost
 * nothing and a seed repeats a run. The same scenario can be played on a real control plane: whoever provides a
 * {@link Ground} gets a stage on it.
 *
 * {@link crashRuns} plays a scenario once for each write that an operator makes and crashes it there; {@link roleRuns}
 * plays scenarios with each rule of its role taken away.
 */

export type { Cluster } from "@konverge/cluster";
export * from "./proofs/crash-runs.ts";
export { differences, endState } from "./proofs/end-state.ts";
export * from "./proofs/role-runs.ts";
export * from "./stage/embedded-ground.ts";
export * from "./stage/embedded-stage.ts";
export type { Fate, Ground, Reachable } from "./stage/ground.ts";
export { OperatorStage } from "./stage/operator-stage.ts";
export { NOWHERE, registerOnPort } from "./stage/registrations.ts";
export { bashShell, type Shell } from "./stage/shell.ts";
export * from "./stage/stage.ts";
