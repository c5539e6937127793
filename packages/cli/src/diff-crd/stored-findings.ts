/** What a new CRD does to objects that are stored. */
export const STORED_FINDINGS = {
  crd: { breaking: true, meaning: "the API server refuses the new CRD" },
  unreadable: { breaking: true, meaning: "the object cannot be read in a version" },
  refused: { breaking: true, meaning: "the next change of the spec is refused, or any write" },
  lost: { breaking: true, meaning: "a field is lost, with the next read or write" },
  tolerated: {
    breaking: false,
    meaning: "a field is invalid, which is tolerated until it is changed",
  },
  changed: { breaking: false, meaning: "a field gets another value, or a default" },
  stored: { breaking: false, meaning: "objects may be stored in a version that is not the storage version" },
  unchecked: { breaking: false, meaning: "something that could not be checked" },
} as const;

export type StoredFindingType = keyof typeof STORED_FINDINGS;

/** Something that a new CRD does to objects that are stored: to all of them in the same way. */
export interface StoredFinding {
  readonly type: StoredFindingType;
  /** `notes.example.com`, and the version in which it happens. */
  readonly crd: string;
  readonly version?: string;
  readonly message: string;
  /** By `namespace/name`. */
  readonly objects: readonly string[];
}

/** Findings of the same kind are one, with all objects. */
export class StoredFindings {
  readonly #groups = new Map<string, StoredFinding & { readonly objects: string[] }>();

  /** `same`: what makes it the same finding; the message is that of the first object. */
  add(
    type: StoredFindingType,
    of: Pick<StoredFinding, "crd" | "version" | "message">,
    object?: string,
    same = "",
  ): void {
    const id = JSON.stringify([type, of.crd, of.version, same || of.message]);
    const group = this.#groups.get(id) ?? { type, ...of, objects: [] };
    this.#groups.set(id, group);
    if (object !== undefined) group.objects.push(object);
  }

  all(): StoredFinding[] {
    const order = Object.keys(STORED_FINDINGS);
    return [...this.#groups.values()].sort((a, b) => order.indexOf(a.type) - order.indexOf(b.type));
  }
}

/** How many objects a line names. */
const NAMED = 3;

/** `refused: notes.example.com v1: default/a, default/b and 7 more: spec.text: Required value`. */
export function storedFindingLine({ type, crd, version, message, objects }: StoredFinding): string {
  const names = objects.slice(0, NAMED).join(", ");
  const more = objects.length - NAMED;
  const who = more > 0 ? `${names} and ${more} more` : names;
  const where = version === undefined ? crd : `${crd} ${version}`;
  return `${type}: ${[where, who, message].filter((part) => part !== "").join(": ")}`;
}

export const isBreaking = ({ type }: StoredFinding) => STORED_FINDINGS[type].breaking;
