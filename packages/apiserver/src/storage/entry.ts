/** What is stored of one object: its JSON text, and the little that selectors need without parsing it. */
export interface Entry {
  /** `namespace/name`, or `name` for cluster-scoped kinds: the order of lists. */
  readonly key: string;
  readonly revision: number;
  /** The object in its stored version, resourceVersion included. */
  readonly text: string;
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>> | undefined;
  /** The values field selectors may ask for. */
  readonly fields: Readonly<Record<string, string>> | undefined;
}

/** One committed change of a collection. */
export interface StoredChange {
  readonly revision: number;
  readonly key: string;
  /** After the change. For a deletion: the object's last state, at the deletion's revision. */
  readonly entry: Entry;
  /** Before the change; undefined for a creation. */
  readonly previous: Entry | undefined;
  readonly deleted: boolean;
  /** Wall-clock milliseconds, for compaction by age. */
  readonly at: number;
}
