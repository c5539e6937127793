import { type Change, type Evidence, idOf, lastUpTo } from "./evidence.ts";
import type { History, Listing, Operation, Version } from "./history.ts";

/** Lists that are not the state at their revision, as all that was observed shows it. */
export function wrongLists(history: History, evidence: Evidence): string[] {
  const deletions = Map.groupBy(
    history.operations.filter(({ action, result }) => action.verb === "delete" && mayHaveHappened(result.is)),
    idOf,
  );
  const objects = Map.groupBy(evidence.changes, ([, [first]]) => first!.version.resource);
  return history.listings.flatMap((listing) => {
    const items = new Map(listing.items.map((item) => [idOf(item), item]));
    const repeated = items.size === listing.items.length ? [] : ["an object is in it twice"];
    const wrong = (objects.get(listing.resource) ?? []).flatMap(([id, changes]) => {
      const last = lastUpTo(changes, listing.revision);
      const problem = wrongItem(items.get(id), last, () =>
        isDeletionPossible(evidence, deletions.get(id) ?? [], listing, last!, changes),
      );
      return problem === undefined ? [] : [`${id} ${problem}`];
    });
    return [...repeated, ...wrong].map(
      (problem) => `${listing.client}: list of ${listing.resource} at revision ${listing.revision}: ${problem}`,
    );
  });
}

function wrongItem(item: Version | undefined, last: Change | undefined, mayBeDeleted: () => boolean) {
  const expected = last && !last.isDeletion ? last.revision : undefined;
  if (item?.revision === expected) return undefined;
  if (item === undefined) return mayBeDeleted() ? undefined : `is missing: it was stored at ${expected}`;
  return `is of revision ${item.revision} in place of ${expected ?? "nothing"}`;
}

/**
 * Whether an object may have been deleted without any client observing the revision: a client requested it in time, none
 * observed the object later, and no watch covers it.
 */
function isDeletionPossible(
  evidence: Evidence,
  requests: readonly Operation[],
  { resource, revision, returned }: Listing,
  last: Change,
  changes: readonly Change[],
): boolean {
  const isWatched = evidence.isCovered(resource, last.revision, revision);
  const isLater = changes.some((change) => change.revision > revision && change.version.uid === last.version.uid);
  return !isWatched && !isLater && requests.some(({ called }) => called < returned);
}

function mayHaveHappened(is: Operation["result"]["is"]): boolean {
  return is === "deleted" || is === "unknown";
}
