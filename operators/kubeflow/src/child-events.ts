import type { ChildrenOutcome, EventSink } from "konverge";
import { podCreationProblem, type WorkloadProblem } from "konverge/pods";
import type { JobMetrics } from "./job-metrics.ts";

/** The kinds of children that are reported in events, by the word in the event's reason. */
const REPORTED: Readonly<Record<string, string>> = { Pod: "pod", Job: "job", Service: "service" };

/** Reports what was created and deleted, in events and metrics. */
export function reportChildren(
  { created, deleted }: ChildrenOutcome,
  events: EventSink,
  metrics: Pick<JobMetrics, "podCreated" | "podDeleted" | "serviceCreated">,
): void {
  for (const { kind, metadata } of created) {
    if (!(kind in REPORTED)) continue;
    if (kind === "Pod") metrics.podCreated();
    if (kind === "Service") metrics.serviceCreated();
    events.normal(`SuccessfulCreate${kind}`, `Created ${REPORTED[kind]}: ${metadata.name}`);
  }
  for (const { kind, metadata } of deleted) {
    if (!(kind in REPORTED)) continue;
    if (kind === "Pod") metrics.podDeleted();
    events.normal(`SuccessfulDelete${kind}`, `Deleted ${REPORTED[kind]}: ${metadata.name}`);
  }
}

/** Why a child was refused, if a user can do something about it. */
export function refusalIn({ refused }: ChildrenOutcome): WorkloadProblem | undefined {
  const [first] = refused;
  if (!first) return undefined;
  const { child, reason, message, error } = first;
  const what = `${child.kind.toLowerCase()} ${child.metadata.name}`;
  if (reason === "ChildReplaced" || reason === "ChildTerminating") {
    return { reason: "NameTaken", message: `the ${what} must be deleted before it can be recreated` };
  }
  if (reason === "ChildExists" || reason === "ChildOfAnother") {
    return {
      reason: "NameTaken",
      message: `there is a ${what} that is not this job's: delete it, or give the job another name`,
    };
  }
  return podCreationProblem(error, what) ?? { reason: "PodInvalid", message };
}
