import { union } from "./field-set.ts";
import { type Managers, managerId } from "./managers.ts";
import { compareText } from "./path-element.ts";

/** The most updaters that an object remembers by name. */
export const MAX_UPDATE_MANAGERS = 10;

/**
 * Keeps managedFields from growing for ever: when more than ten updaters have entries, the oldest of each version are
 * thrown together under the name `ancient-changes`.
 */
export function capManagers(managers: Managers): void {
  const updaters = [...managers].filter(([, { applied }]) => !applied).map(([id]) => id);
  let excess = updaters.length - MAX_UPDATE_MANAGERS;
  if (excess <= 0) return;
  const time = (id: string) => managers.get(id)!.time ?? "";
  updaters.sort((a, b) => compareText(time(a), time(b)) || compareText(a, b));
  const firstOf = new Map<string, string>();
  for (const id of updaters) {
    if (excess <= 0) return;
    const owned = managers.get(id)!;
    const { apiVersion } = owned;
    const first = firstOf.get(apiVersion);
    if (first === undefined) {
      // One entry alone is no shorter under another name.
      firstOf.set(apiVersion, id);
      continue;
    }
    const bucket = managerId({ manager: "ancient-changes", operation: "Update", apiVersion });
    // The first of a version moves into the bucket together with the second.
    const partner = id === bucket || !managers.has(bucket) ? first : bucket;
    const set = union(owned.set, managers.get(partner)!.set);
    managers.delete(partner);
    managers.delete(id);
    managers.set(bucket, { ...owned, set });
    excess--;
  }
}
