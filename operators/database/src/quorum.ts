/** Which standbys must confirm a commit: any `required` of `names`. */
export interface Confirming {
  readonly required: number;
  readonly names: readonly string[];
}

/** Reads PostgreSQL's own `ANY 1 ("a","b")`; undefined if no standby must confirm. */
export function parseConfirming(text: string | undefined): Confirming | undefined {
  const [, required, names] = /^ANY (\d+) \((.*)\)$/.exec(text ?? "") ?? [];
  if (!required || !names || required === "0") return undefined;
  return { required: Number(required), names: names.split(",").map((name) => name.replaceAll('"', "").trim()) };
}

/**
 * Whether these detached standbys form a quorum: at least one of them has every confirmed commit, and no further commit can
 * be confirmed without one of them, because fewer standbys than required remain attached.
 */
export function canStandForAll({ required, names }: Confirming, detached: Iterable<string>): boolean {
  const among = new Set(detached);
  return names.filter((name) => !among.has(name)).length < required;
}
