import { union } from "./field-set.ts";
import { type Managers, managerId } from "./managers.ts";
import { compareText } from "./path-element.ts";

/** The most updaters that an object remembers by name. */
const MAX_UPDATE_MANAGERS = 10;

const ANCIENT = "ancient-changes";

/**
 * Keeps managedFields from growing forever: when more than ten updaters have entries, the oldest of each version are
 * thrown together under the name `ancient-changes`.
 */
export function capManagers(managers: Managers): void {
  if (managers.size <= MAX_UPDATE_MANAGERS) return;
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
    const bucket = managerId({ manager: ANCIENT, operation: "Update", apiVersion });
    excess--;
    if (id === bucket) {
      // An older entry than the bucket can only be one of the same second. The API server forgets the bucket then.
      managers.delete(bucket);
      continue;
    }
    // The first of a version moves into the bucket together with the second.
    const partner = managers.has(bucket) ? bucket : first;
    const set = union(owned.set, managers.get(partner)!.set);
    managers.delete(partner);
    managers.delete(id);
    managers.set(bucket, { ...owned, manager: ANCIENT, subresource: undefined, set });
  }
}
