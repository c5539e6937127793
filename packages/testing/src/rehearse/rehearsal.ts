/** What is reported of a new version. */
export const REHEARSAL_FINDINGS = {
  write: "A write that the old version does not make.",
  restart: "Pods are replaced, or their containers restart.",
  deletion: "An object is deleted.",
  recreation: "An object is deleted and made again.",
  volume: "A volume is deleted, or made again: its data is lost.",
  immutable: "A write to a field that cannot change: the API server refuses it.",
  refused: "A write that the API server refuses.",
  unready: "An object that was ready is not.",
  unending: "Writes that do not end.",
  load: "Many more requests than the old version makes.",
  crash: "After a crash, the new version ends up with another state.",
  failure: "The new version cannot be run on this state.",
} as const;

export type RehearsalFindingType = keyof typeof REHEARSAL_FINDINGS;

/** Something that the new version does and the old does not, to some objects of one kind. */
export interface RehearsalFinding {
  readonly type: RehearsalFindingType;
  /** `statefulsets.apps`; empty if it is about no kind. */
  readonly resource: string;
  /** All objects that it happens to, by `namespace/name`. */
  readonly objects: readonly string[];
  readonly message: string;
}

/** How many requests a version makes. */
export interface RehearsalLoad {
  readonly requests: number;
  /** By verb. */
  readonly verbs: Readonly<Record<string, number>>;
  /** In the minutes at the end, in which there is nothing to do. */
  readonly idleRequests: number;
  readonly idleMinutes: number;
}

/** What a new version of an operator does to a state, as far as the old one does not do it. */
export interface Rehearsal {
  readonly name: string;
  /** How many objects the state has. */
  readonly objects: number;
  readonly findings: readonly RehearsalFinding[];
  readonly load: { readonly new: RehearsalLoad; readonly old?: RehearsalLoad };
  /** How many crashes of the new version were tried. */
  readonly crashes: number;
  /** What to know to judge it. */
  readonly notes: readonly string[];
}
