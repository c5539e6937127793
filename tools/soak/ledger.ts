/** What became of a write: nobody knows of one whose answer never came. */
export type Outcome = "pending" | "acknowledged" | "refused" | "doubtful";

/** A write that a client has sent. Its value is its own: no other write has it. */
export interface Write {
  readonly resource: string;
  /** `namespace/name`. */
  readonly key: string;
  /** What it stores; a deletion has none. */
  readonly value?: string;
  outcome: Outcome;
  /** As the server answered; deletions are answered without. */
  revision?: number;
}

/** All writes of a run, in the order in which they were begun, and what clients have seen that must not be. */
export class Ledger {
  readonly writes: Write[] = [];
  /** Of each object that one client alone writes, its writes in order. */
  readonly owned = new Map<string, Write[]>();
  /** Answers that no correct server gives. */
  readonly surprises: string[] = [];

  begin(write: Omit<Write, "outcome">, owned: boolean): Write {
    const entry: Write = { ...write, outcome: "pending" };
    this.writes.push(entry);
    if (owned) {
      const id = `${write.resource} ${write.key}`;
      const story = this.owned.get(id) ?? [];
      story.push(entry);
      this.owned.set(id, story);
    }
    return entry;
  }

  surprise(what: string): void {
    this.surprises.push(what);
  }

  count(outcome: Outcome): number {
    return this.writes.filter((write) => write.outcome === outcome).length;
  }
}

/** What is to be known of an object, as it was listed or watched. */
export interface Seen {
  readonly key: string;
  readonly uid: string;
  readonly revision: number;
  readonly value: string;
}

/** An object as the API has it, as far as the soak looks at it. */
export interface StoredObject {
  metadata: {
    name: string;
    namespace: string;
    uid: string;
    resourceVersion: string;
    annotations?: Record<string, string>;
  };
}

/** Carries the value of the write that stored an object. */
export const VALUE = "soak.example.com/value";

export function seen({ metadata }: StoredObject): Seen {
  return {
    key: `${metadata.namespace}/${metadata.name}`,
    uid: metadata.uid,
    revision: Number(metadata.resourceVersion),
    value: metadata.annotations?.[VALUE] ?? "",
  };
}
