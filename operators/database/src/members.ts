import type { Pod, PodCondition } from "konverge/kinds";
import type { Member } from "./leadership.ts";
import { parseServerReport } from "./server-report.ts";

/** A server as it is known from its pod and from what it says itself. */
export function memberOf(name: string, pod: Pod | undefined, said: string | undefined): Member {
  return { name, pod: pod && podOf(pod), report: pod ? parseServerReport(said) : undefined };
}

function podOf({ metadata, spec, status }: Pod): NonNullable<Member["pod"]> {
  const { containerStatuses = [], conditions = [], phase } = status ?? {};
  const ending = metadata.deletionTimestamp !== undefined;
  const haveEnded = containerStatuses.length > 0 && containerStatuses.every(({ state }) => state?.terminated);
  return {
    uid: metadata.uid ?? "",
    ready: conditions.some(({ type, status: is }) => type === "Ready" && is === "True"),
    unreadySince: unreadySince(metadata, conditions),
    ending,
    // What has ended in a pod that stays is started again.
    dead: phase === "Failed" || phase === "Succeeded" || (ending && haveEnded),
    node: spec?.nodeName,
  };
}

function unreadySince({ creationTimestamp }: Pod["metadata"], conditions: readonly PodCondition[]): number | undefined {
  const ready = conditions.find(({ type }) => type === "Ready");
  if (ready?.status === "True") return undefined;
  const since = Date.parse(ready?.lastTransitionTime ?? creationTimestamp ?? "");
  return Number.isNaN(since) ? undefined : since;
}

/** Whether a pod's containers run, so that the server in it can be asked. */
export function isRunning({ status }: Pod): boolean {
  return status?.containerStatuses?.some(({ state }) => state?.running !== undefined) ?? false;
}
