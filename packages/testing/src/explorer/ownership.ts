import type { ExploredRun } from "./oracle.ts";

/** An owner, as it was last seen. */
interface KnownOwner {
  readonly kind: string;
  readonly name: string;
  alive: boolean;
}

/** Objects that were adopted from a dead owner of the same name, and owners that are not in the namespace of their children. */
export function ownershipProblems({ changes, objects, groups }: ExploredRun): string[] {
  const problems = new Set<string>();
  const owners = new Map<string, KnownOwner>();
  /** The owners that each object has had, by its UID. */
  const history = new Map<string, Set<string>>();
  for (const { object, type, name, resource } of changes) {
    const { uid = "", ownerReferences = [] } = object.metadata;
    owners.set(uid, { kind: object.kind, name, alive: type !== "deleted" });
    if (type === "deleted") continue;
    const had = history.get(uid) ?? new Set<string>();
    history.set(uid, had);
    // What an operator has released before its owner was gone is kept for the next on purpose, such as a volume.
    for (const one of had) {
      if (!ownerReferences.some((owner) => owner.uid === one) && owners.get(one)?.alive) had.delete(one);
    }
    for (const owner of ownerReferences) {
      if (had.has(owner.uid)) continue;
      const before = [...had].map((one) => owners.get(one)).find((one) => one?.kind === owner.kind);
      if (before && !before.alive && before.name === owner.name) {
        problems.add(
          `${resource}/${name} of a deleted ${owner.kind} ${owner.name} was adopted by the next of that name`,
        );
      }
      had.add(owner.uid);
    }
  }
  const present = new Set(objects.map(({ metadata }) => metadata.uid));
  for (const { kind, metadata } of objects) {
    for (const owner of metadata.ownerReferences ?? []) {
      const isOwn = groups.includes(owner.apiVersion.split("/")[0] ?? "");
      if (isOwn && !present.has(owner.uid)) {
        problems.add(`${kind} ${metadata.name} has an owner that is not in its namespace: ${owner.kind} ${owner.name}`);
      }
    }
  }
  return [...problems];
}
