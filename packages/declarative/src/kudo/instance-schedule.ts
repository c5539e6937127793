/** What an instance has to run: requested by its admission, or found by comparing it with what was last scheduled. Pure. */
import { deepEqual } from "@konverge/core";
import { type Instance, type OperatorVersion, operatorVersionKey, type PlanExecution } from "./kudo-kinds.ts";
import { parameterProblem, withImmutableDefaults } from "./parameters.ts";
import { isTerminal } from "./plan-status.ts";
import { plannedBy, RefusedChangeError } from "./schedule-plan.ts";

export type Schedule =
  /** Nothing is to be run. */
  | { readonly state: "idle" }
  | { readonly state: "run"; readonly plan: string; readonly uid: string }
  /** A plan is due: it gets an ID. */
  | { readonly state: "request"; readonly plan: string; readonly parameters?: Readonly<Record<string, string>> }
  /** The plan has ended. */
  | { readonly state: "ended" }
  | { readonly state: "refused"; readonly message: string };

/** `find` returns the OperatorVersion of a key. */
export function scheduleOf(
  instance: Instance,
  version: OperatorVersion,
  find: (key: string) => OperatorVersion | undefined,
): Schedule {
  const { planName = "", uid = "" } = instance.spec?.planExecution ?? {};
  const { planStatus = {}, scheduled } = instance.status ?? {};
  if (planName) {
    const known = planStatus[planName];
    if (uid && known?.uid === uid && isTerminal(known.status)) return { state: "ended" };
    if (!Object.hasOwn(version.spec?.plans ?? {}, planName)) {
      return { state: "refused", message: `plan ${planName} does not exist in ${version.metadata.name}` };
    }
    if (!uid) return { state: "request", plan: planName };
    const changed = scheduled?.uid === uid ? changedPlan(instance, version, scheduled, find) : undefined;
    if (typeof changed === "string" && changed === planName) return { state: "request", plan: planName };
    return { state: "run", plan: planName, uid };
  }
  if (!scheduled) {
    // One that KUDO has deployed is adopted as it is.
    if (Object.values(planStatus).some(({ status }) => status !== "NEVER_RUN")) return { state: "idle" };
    return firstPlan(instance, version);
  }
  const changed = changedPlan(instance, version, scheduled, find);
  if (changed instanceof RefusedChangeError) return { state: "refused", message: changed.message };
  return changed === undefined ? { state: "idle" } : { state: "request", plan: changed };
}

function firstPlan({ spec }: Instance, version: OperatorVersion): Schedule {
  if (!Object.hasOwn(version.spec?.plans ?? {}, "deploy")) {
    return { state: "refused", message: `couldn't find 'deploy' plan in the operatorVersion ${version.metadata.name}` };
  }
  const given = spec?.parameters ?? {};
  const parameters = withImmutableDefaults(version, given);
  const problem = parameterProblem(version, parameters);
  if (problem !== undefined) return { state: "refused", message: `parameters are not valid: ${problem}` };
  return { state: "request", plan: "deploy", ...(!deepEqual(parameters, given) && { parameters }) };
}

/** The plan that the difference to what was scheduled last is due to run. */
export function changedPlan(
  instance: Instance,
  version: OperatorVersion,
  scheduled: PlanExecution,
  find: (key: string) => OperatorVersion | undefined,
): string | undefined | RefusedChangeError {
  const parameters = instance.spec?.parameters ?? {};
  const isSame = scheduled.operatorVersion === operatorVersionKey(instance);
  if (isSame && deepEqual(scheduled.parameters ?? {}, parameters)) return undefined;
  try {
    const before = find(scheduled.operatorVersion ?? "") ?? version;
    return plannedBy({ version: before, parameters: scheduled.parameters ?? {} }, { version, parameters });
  } catch (error) {
    if (error instanceof RefusedChangeError) return error;
    throw error;
  }
}
