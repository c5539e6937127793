import type { Pod } from "../../codec/objects.ts";
import { objectOf } from "../../resources/stored-object.ts";
import type { Store } from "../../storage/store.ts";
import { violations } from "./evaluate.ts";
import { type LevelVersion, levelText } from "./policy.ts";

/** Of more pods only these are checked: a label must not take as long as there are pods. */
const MOST_CHECKED = 3000;

/** What to warn of when a namespace enforces a level that pods in it violate. */
export function warningsOfExisting(store: Store, namespace: string, enforce: LevelVersion): string[] {
  const pods = [...store.collection("/pods").scan(`${namespace}/`)].map((entry) => objectOf(entry) as unknown as Pod);
  const ordered = firstOfEachController(pods);
  const byReasons = new Map<string, string[]>();
  for (const { metadata, spec } of ordered.slice(0, MOST_CHECKED)) {
    const found = violations(enforce, { annotations: metadata.annotations ?? {}, spec });
    if (found.length === 0) continue;
    const reasons = found.map(({ reason }) => reason).join(", ");
    byReasons.set(reasons, [...(byReasons.get(reasons) ?? []), metadata.name ?? ""]);
  }
  const warnings: string[] = [];
  if (pods.length > MOST_CHECKED) {
    const counts = `the first ${MOST_CHECKED} of ${pods.length} existing pods`;
    warnings.push(`new PodSecurity enforce level only checked against ${counts}`);
  }
  if (byReasons.size === 0) return warnings;
  const level = levelText(enforce);
  warnings.push(`existing pods in namespace "${namespace}" violate the new PodSecurity enforce level "${level}"`);
  const perReason = [...byReasons].map(([reasons, names]) => {
    const [first, ...others] = names.sort();
    const more = others.length === 0 ? "" : ` (and ${others.length} other ${others.length === 1 ? "pod" : "pods"})`;
    return `${first}${more}: ${reasons}`;
  });
  return [...warnings, ...perReason.sort()];
}

/** The pods of one controller are alike: the others come after the first of each. */
function firstOfEachController(pods: readonly Pod[]): Pod[] {
  const controllers = new Set<string>();
  const others: Pod[] = [];
  const first = pods.filter((pod) => {
    const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller)?.uid;
    if (owner === undefined || !controllers.has(owner)) {
      if (owner !== undefined) controllers.add(owner);
      return true;
    }
    others.push(pod);
    return false;
  });
  return [...first, ...others];
}
