import type { Condition, KubeObject } from "@konverge/core";

/** How far an object of any operator's kind is. */
export interface Convergence {
  readonly done: boolean;
  /** In a few words. */
  readonly message: string;
}

/** Phases and states in which an object is what it was asked to be, in any spelling. */
const DONE = new Set(["running", "succeeded", "ready", "available", "completed", "complete", "successful", "active"]);
/** Conditions that say so, the most telling first. */
const TELLING = ["Ready", "Available", "Succeeded", "Complete", "Completed", "Running"];

/**
 * Judges an object by what its kind reports: a phase or state if it has one, otherwise its conditions. What a phase promises,
 * a Ready condition can deny: a backup that is Running has only begun, a training that is Running does what was asked for, and
 * only their operators know which.
 */
export function convergenceOf(object: KubeObject | undefined): Convergence {
  if (!object) return { done: false, message: "not created yet" };
  const { phase, state, conditions = [], observedGeneration } = statusOf(object);
  if (observedGeneration !== undefined && observedGeneration < (object.metadata.generation ?? 0)) {
    return { done: false, message: "its latest change has not been observed yet" };
  }
  const suspended = conditions.find(({ type, status }) => type === "Suspended" && status === "True");
  if (suspended && (object as { spec?: { suspend?: boolean } }).spec?.suspend)
    return { done: true, message: textOf(suspended) };
  const reported = TELLING.map((type) => conditions.find((one) => one.type === type)).filter(
    (one) => one !== undefined,
  );
  const word = [phase, state].find((one) => typeof one === "string" && one !== "");
  if (word !== undefined) {
    const ready = conditions.find(({ type }) => type === "Ready");
    const done = DONE.has(word.toLowerCase()) && (ready === undefined || ready.status === "True");
    const [why] = reported.filter(({ status }) => status !== "True");
    return { done, message: done || !why ? word : `${word}: ${textOf(why)}` };
  }
  const holding = reported.find(({ status }) => status === "True");
  if (holding) return { done: true, message: textOf(holding) };
  const why = reported[0] ?? conditions.find(({ type, status }) => type === "Stalled" && status === "True");
  return { done: false, message: why ? textOf(why) : "nothing reported yet" };
}

interface Status {
  phase?: string;
  state?: string;
  conditions?: Condition[];
  observedGeneration?: number;
}

const statusOf = (object: KubeObject) => (object as { status?: Status }).status ?? {};
const textOf = ({ message, reason, type }: Condition) => message || reason || type;
