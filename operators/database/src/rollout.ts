import { isServing, type Member } from "./leadership.ts";

/** What brings servers to the newest revision, one after the other. */
export type RolloutStep =
  | { readonly step: "none" }
  /** All that could be done is done for now. */
  | {
      readonly step: "wait";
      readonly message: string;
      /** Only other Databases are waited for: nothing is wrong with this one. */
      readonly isTurn?: boolean;
    }
  | { readonly step: "replace"; readonly name: string; readonly uid: string; readonly why: string }
  /** The primary comes last, when another leads. */
  | { readonly step: "handOver"; readonly to: string };

/**
 * Standbys first, from the highest ordinal, each when all others are ready; then a switchover makes the old primary a
 * standby like all others. A server that cannot run in its current state is replaced at once; a running primary is not, even
 * if its pod is not ready.
 */
export function rolloutStep(members: readonly Member[], primary: string, outdated: ReadonlySet<string>): RolloutStep {
  const old = members.filter(({ pod }) => pod && outdated.has(pod.uid));
  if (old.length === 0) return { step: "none" };
  if (members.some(({ pod }) => pod?.ending)) return { step: "wait", message: "a server is being replaced" };
  const next = members.find(({ name }) => name === primary);
  if (next?.report?.role === "standby") return { step: "wait", message: `${primary} is becoming the primary` };
  const replace = ({ name, pod }: Member, why: string): RolloutStep => ({ step: "replace", name, uid: pod!.uid, why });
  const isLast = (member: Member) => member.name === primary && old.includes(member) && isServing(member);
  const stuck = old.find((member) => !member.pod?.ready && !isLast(member));
  if (stuck) return replace(stuck, "did not become ready and is replaced by the newer revision");
  const missing = members.find((member) => !member.pod?.ready && !isLast(member));
  if (missing) return { step: "wait", message: `${missing.name} is not ready yet` };
  const behind = members.find(({ report }) => report && report.role !== "primary" && report.streaming !== true);
  if (behind) return { step: "wait", message: `${behind.name} has not caught up yet` };
  const standby = old.findLast(({ name }) => name !== primary);
  if (standby) return replace(standby, "is replaced by the newer revision");
  const heir = members.find(({ name, report }) => name !== primary && report?.streaming);
  if (heir) return { step: "handOver", to: heir.name };
  return replace(old[0]!, "is replaced by the newer revision, and becomes the primary again when it is back");
}
