import type { Container, Pod } from "@konverge/kinds";
import type { ContainerBehavior } from "../images/behavior.ts";
import { isPauseImage } from "../images/plain-images.ts";
import { outcomeOf } from "./commands.ts";

/** An end that is to come. */
export interface PlannedExit {
  at: number;
  readonly code: number;
  readonly reason?: string;
  readonly message?: string;
}

/** Which container is about to run. */
export interface PlannedRun {
  readonly pod: Pod;
  readonly container: Container;
  readonly role: "init" | "sidecar" | "main" | "ephemeral";
  /** A program really runs, and decides when it ends. */
  readonly isProgram: boolean;
}

/** Exit codes above this are those of a signal. */
export const SIGNALS = 128;
export const SIGKILL = 9;
const NEVER = Number.POSITIVE_INFINITY;
/** How long the pod of a Job runs if its behavior is not specified. */
const TASK_DURATION = 100;

/** How a run of a container that only seems to run will end, if it does, and what it writes; a script for it comes first. */
export function plannedExit(
  { pod, container, role, isProgram }: PlannedRun,
  { crashAfter, oomAfter, runDuration, exitCode, terminationMessage }: ContainerBehavior,
  now: number,
): { exit?: PlannedExit; output?: string } {
  const message = terminationMessage === undefined ? {} : { message: terminationMessage };
  const exits = (after: number, code: number, reason?: string) => ({
    exit: { at: now + after, code, ...(reason && { reason }), ...message },
  });
  if (oomAfter !== undefined) return exits(oomAfter, SIGNALS + SIGKILL, "OOMKilled");
  if (crashAfter !== undefined) return exits(crashAfter, exitCode ?? 1);
  if (runDuration !== undefined) return exits(runDuration, exitCode ?? 0);
  if (exitCode !== undefined) return exits(0, exitCode);
  if (isProgram) return {};
  const outcome = outcomeOf(container);
  if (outcome) {
    const output = outcome.output.length > 0 ? { output: `${outcome.output.join("\n")}\n` } : {};
    return { ...(outcome.afterMs === NEVER ? {} : exits(outcome.afterMs, outcome.exitCode)), ...output };
  }
  if (role === "init") return exits(0, 0);
  const isTask = pod.metadata.ownerReferences?.some((owner) => owner.controller && owner.kind === "Job");
  return role === "main" && isTask && !isPauseImage(container.image) ? exits(TASK_DURATION, 0) : {};
}
