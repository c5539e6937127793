import type { KubeObject, ObjectMeta } from "@konverge/core";

/** The annotation with the children that a child was applied after, so that it can be deleted before them. */
const AFTER = "konverge.dev/after";

/** A child that is to go. */
export interface Doomed {
  /** `Deployment.apps default/web`. */
  readonly name: string;
  readonly object: KubeObject;
}

/** A child that may go now, and whether others wait until it is gone. */
export interface Removable<D extends Doomed> {
  readonly doomed: D;
  readonly awaited: boolean;
}

/** What makes a child remember the names of those it came after. */
export function rememberAfter(names: readonly string[]): Pick<ObjectMeta, "annotations"> {
  return names.length === 0 ? {} : { annotations: { [AFTER]: [...names].sort().join(", ") } };
}

/**
 * Of the children that are to go, those whose turn it is: what came last goes first, and what it came after stays until it
 * is gone. Those that are on their way out already have had their turn.
 */
export function nextToGo<D extends Doomed>(all: readonly D[]): Removable<D>[] {
  const names = new Set(all.map(({ name }) => name));
  const needed = new Map(all.map(({ name, object }) => [name, comesAfter(object).filter((other) => names.has(other))]));
  const held = new Set([...needed.values()].flat());
  const waiting = all.filter(({ object }) => !object.metadata.deletionTimestamp);
  const free = waiting.filter(({ name }) => !held.has(name));
  // Any client can write annotations: with a cycle, nothing would ever be deleted.
  const stuck = free.length === 0 && waiting.length === all.length;
  return (stuck ? waiting : free).map((doomed) => ({ doomed, awaited: needed.get(doomed.name)!.length > 0 }));
}

function comesAfter({ metadata }: KubeObject): string[] {
  return metadata.annotations?.[AFTER]?.split(", ") ?? [];
}
