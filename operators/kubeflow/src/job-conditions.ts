import type { JobCondition, JobStatus } from "./job-fields.ts";

/** What a job can be, in upstream's terms. */
export type ConditionType = "Created" | "Running" | "Restarting" | "Succeeded" | "Suspended" | "Failed";

/** The condition of jobs that need help to continue. It is not one of upstream's, so it is never the last in the list. */
export const STALLED = "Stalled";
const TYPES: readonly string[] = ["Created", "Running", "Restarting", "Succeeded", "Suspended", "Failed"];

export interface Statement {
  readonly type: ConditionType;
  readonly status: "True" | "False";
  readonly reason: string;
  readonly message: string;
}

export function holds(conditions: readonly JobCondition[] | undefined, type: ConditionType): boolean {
  return conditions?.some((one) => one.type === type && one.status === "True") ?? false;
}

/** Whether a job has come to its end. */
export function isFinished({ conditions }: JobStatus): boolean {
  return holds(conditions, "Succeeded") || holds(conditions, "Failed");
}

/** The conditions of a job that are upstream's, in their order. */
export function jobConditions({ conditions = [] }: JobStatus): JobCondition[] {
  return conditions.filter(({ type }) => TYPES.includes(type));
}

/** Conditions that others report of the job. */
export function foreignConditions({ conditions = [] }: JobStatus): JobCondition[] {
  return conditions.filter(({ type }) => type !== STALLED && !TYPES.includes(type));
}

/**
 * The list with one more statement at its end, because readers take the last entry for the job's state. Running and
 * Restarting exclude each other; a job that ends no longer runs; after Failed nothing is stated any more.
 */
export function withStatement(
  conditions: readonly JobCondition[],
  { type, status, reason, message }: Statement,
  time: string,
): readonly JobCondition[] {
  if (holds(conditions, "Failed")) return conditions;
  const known = conditions.find((one) => one.type === type);
  if (known?.status === status && known.reason === reason) return conditions;
  const ends = type === "Failed" || type === "Succeeded";
  const others = conditions
    .filter((one) => one.type !== type && !excludes(type, one.type))
    .map((one) => (ends && one.type === "Running" ? { ...one, status: "False" as const } : one));
  const since = known?.status === status ? known.lastTransitionTime : undefined;
  const stated = { type, status, reason, message, lastUpdateTime: time, lastTransitionTime: since ?? time };
  return [...others, stated];
}

function excludes(stated: ConditionType, other: string): boolean {
  return (stated === "Running" && other === "Restarting") || (stated === "Restarting" && other === "Running");
}

/** Unchanged conditions keep their times, even if they were removed in between. */
export function settled(conditions: readonly JobCondition[], before: readonly JobCondition[]): JobCondition[] {
  return conditions.map((one) => before.find((known) => saysTheSame(known, one)) ?? one);
}

/** Whether two conditions differ in nothing but their times. */
export function saysTheSame(a: JobCondition, b: JobCondition): boolean {
  return a.type === b.type && a.status === b.status && a.reason === b.reason && a.message === b.message;
}
