/** The states of plans, phases and steps, as KUDO writes them. Pure. */
import type { InstanceStatus, OperatorVersion, PhaseStatus, Plan, PlanStatus, StepStatus } from "./kudo-kinds.ts";

export type ExecutionStatus = "IN_PROGRESS" | "PENDING" | "COMPLETE" | "ERROR" | "FATAL_ERROR" | "NEVER_RUN";

/** A plan that ends with one of these has ended. */
export function isTerminal(status: string | undefined): boolean {
  return status === "COMPLETE" || status === "FATAL_ERROR";
}

/** The states of all plans of a version: those that there are, and `NEVER_RUN` for plans, phases and steps that are new. */
export function initializedPlans(
  existing: InstanceStatus["planStatus"],
  version: OperatorVersion,
): Record<string, PlanStatus> {
  const all: Record<string, PlanStatus> = { ...existing };
  for (const [name, plan] of Object.entries(version.spec?.plans ?? {})) {
    const known = all[name] ?? { name, status: "NEVER_RUN" };
    all[name] = { ...known, phases: phasesOf(plan, known) };
  }
  return all;
}

function phasesOf(plan: Plan, known: PlanStatus): PhaseStatus[] {
  return (plan.phases ?? []).map((phase) => {
    const name = phase.name ?? "";
    const before = known.phases?.find((one) => one.name === name) ?? { name, status: "NEVER_RUN" };
    const steps = (phase.steps ?? []).map(
      (step): StepStatus =>
        before.steps?.find((one) => one.name === (step.name ?? "")) ?? { name: step.name ?? "", status: "NEVER_RUN" },
    );
    return { ...before, steps };
  });
}

/** A plan that starts: everything in it is pending. */
export function startedPlan({ name, phases = [] }: PlanStatus, uid: string, now: string): PlanStatus {
  return {
    name,
    status: "PENDING",
    uid,
    lastUpdatedTimestamp: now,
    phases: phases.map((phase) => ({
      name: phase.name,
      status: "PENDING",
      steps: (phase.steps ?? []).map((step) => ({ name: step.name, status: "PENDING" })),
    })),
  };
}

/** A state with a message, or without one. */
export function withStatus<S extends PlanStatus | PhaseStatus | StepStatus>(
  state: S,
  status: ExecutionStatus,
  message?: string,
): S {
  const { message: _, ...rest } = state;
  return { ...rest, status, ...(message !== undefined && { message }) } as S;
}
