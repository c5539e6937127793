/** A condition of an object's status. */
export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

/** Conditions that are bad, or no news, when they are true. */
const ABNORMAL =
  /Degraded|Stalled|Fail(?!over)|Error|Pressure|Unavailable|Reconciling|Progressing|Suspended|Paused|Terminat|Disrupt|Lost/;

export function toneOf({ type, status }: Condition): "good" | "warn" | "" {
  if (status === "Unknown") return "";
  return (status === "True") === ABNORMAL.test(type) && type !== "Progressing" ? "warn" : "good";
}

/** Conditions in their order, those with the same message together: an error that is the reason of several is shown once. */
export function byMessage(conditions: readonly Condition[]): Condition[][] {
  const groups: Condition[][] = [];
  for (const one of conditions) {
    const same = one.message && groups.find(([first]) => first!.message === one.message);
    if (same) same.push(one);
    else groups.push([one]);
  }
  // The tone of a group is that of its first: what is bad comes first.
  const badFirst = (a: Condition, b: Condition) => Number(toneOf(b) === "warn") - Number(toneOf(a) === "warn");
  return groups.map((group) => group.toSorted(badFirst));
}
