import { type AnyObject, controllerOf } from "@konverge/core";
import type { ApplicationTrouble } from "./application-fault.ts";
import type { EndState } from "./end-state.ts";
import type { ExploredRun } from "./oracle.ts";

/** A status, as far as conventions go. */
interface ConventionalStatus {
  readonly phase?: unknown;
  readonly conditions?: unknown;
}

interface Condition {
  readonly type?: string;
  readonly status?: string;
  readonly reason?: string;
}

/** What an application may not survive. */
const FATAL = new Set<ApplicationTrouble>(["evicted", "job fails"]);

/** What a phase, the type of a condition or its reason is called that reports a failure. */
const FAILURE = /fail|error|evict|stall|degrad|backoff|deadline/i;

/**
 * Whether a pod or a Job failed by a fault and the operator reports that it failed, with no later attempt that succeeded: that is an
 * answer, if not the one of a run without faults.
 */
export function reportsFailure(run: ExploredRun): boolean {
  if (!isFatal(run) || hasLaterSuccess(run)) return false;
  return run.objects.some((object) => isOwn(object, run) && hasFailed(object));
}

/** Whether a fault ended a pod or a Job. */
export function isFatal({ faults }: ExploredRun): boolean {
  return faults.some((fault) => fault.type === "application" && FATAL.has(fault.trouble));
}

/**
 * An end state without what the statuses of the operator's own kinds say beyond a phase and conditions: an operator may report what
 * has failed, and how often it tried again.
 */
export function withoutDetails(state: EndState, groups: readonly string[]): EndState {
  return new Map([...state].map(([key, text]) => [key, isOfGroup(text, groups) ? withoutStatusDetails(text) : text]));
}

function isOfGroup(text: string, groups: readonly string[]): boolean {
  return groups.some((group) => text.includes(`"apiVersion": "${group}/`));
}

function withoutStatusDetails(text: string): string {
  const { status, ...rest } = JSON.parse(text) as { status?: ConventionalStatus };
  const { phase, conditions } = status ?? {};
  const shown = Array.isArray(conditions)
    ? (conditions as Condition[]).map(({ type, status: value }) => ({ type, status: value }))
    : [];
  return JSON.stringify({ ...rest, status: { phase, conditions: shown } }, undefined, 1);
}

function hasFailed(object: AnyObject): boolean {
  const { phase, conditions } = (object["status"] ?? {}) as ConventionalStatus;
  if (typeof phase === "string" && FAILURE.test(phase)) return true;
  const all = Array.isArray(conditions) ? (conditions as Condition[]) : [];
  return all.some(({ type = "", status, reason = "" }) =>
    status === "True" ? FAILURE.test(type) : FAILURE.test(reason),
  );
}

function isOwn({ apiVersion }: AnyObject, { groups }: ExploredRun): boolean {
  return groups.includes(String(apiVersion).split("/")[0] ?? "");
}

/** Whether a Job completed after one of the same owner had failed. */
function hasLaterSuccess({ changes }: ExploredRun): boolean {
  const failed = new Set<string | undefined>();
  return changes.some(({ resource, object }) => {
    if (resource !== "jobs.batch") return false;
    const owner = controllerOf(object)?.uid;
    if (isTrue(object, "Failed")) failed.add(owner);
    return isTrue(object, "Complete") && failed.has(owner);
  });
}

function isTrue(object: AnyObject, name: string): boolean {
  const { conditions } = (object["status"] ?? {}) as ConventionalStatus;
  const all = Array.isArray(conditions) ? (conditions as Condition[]) : [];
  return all.some(({ type, status }) => type === name && status === "True");
}
