/** An object as a response or an event showed it. Its value is unique: no other write stores it. */
export interface Version {
  readonly resource: string;
  readonly name: string;
  readonly uid: string;
  readonly revision: number;
  readonly value: string;
  /** A label, by which some watches select. */
  readonly shard: string;
}

/** What an operation on one object requests. */
export type Action =
  | { readonly verb: "get"; readonly at?: string }
  | { readonly verb: "create" | "patch" | "apply"; readonly value: string; readonly shard: string }
  | { readonly verb: "update"; readonly value: string; readonly shard: string; readonly revision: number }
  | { readonly verb: "delete"; readonly uid?: string; readonly revision?: number };

export type Result =
  | { readonly is: "stored"; readonly version: Version; readonly isNew?: boolean }
  /** A read object. */
  | { readonly is: "found"; readonly version: Version }
  /** Acknowledged, with the uid of the deleted object. */
  | { readonly is: "deleted"; readonly uid: string }
  /** 404. */
  | { readonly is: "absent" }
  /** 409 AlreadyExists. */
  | { readonly is: "exists" }
  /** 409 Conflict. */
  | { readonly is: "conflict" }
  /** Rejected before it could have an effect. */
  | { readonly is: "refused" }
  /** The response was lost, or was an error that leaves open what happened. */
  | { readonly is: "unknown" };

/** A request for one object. Times are monotonic milliseconds in the process of all clients. */
export interface Operation {
  readonly client: string;
  readonly resource: string;
  readonly name: string;
  readonly action: Action;
  readonly called: number;
  /** Infinity if the outcome is unknown: it may take effect at any later time. */
  returned: number;
  result: Result;
}

/** All pages of one list. */
export interface Listing {
  readonly client: string;
  readonly resource: string;
  readonly called: number;
  readonly returned: number;
  /** resourceVersion as it was requested: "" is consistent, "0" is any. */
  readonly at: string;
  readonly isExact: boolean;
  /** The list's own. */
  readonly revision: number;
  readonly items: readonly Version[];
}

export type StreamEvent =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly at: number; readonly version: Version }
  | { readonly type: "BOOKMARK"; readonly at: number; readonly revision: number };

/** One watch request, from a revision on. */
export interface Stream {
  readonly client: string;
  readonly resource: string;
  /** Selects by the label. */
  readonly shard?: string;
  readonly from: number;
  readonly called: number;
  readonly events: StreamEvent[];
}

/** An answer 410: for a watch from a revision, a list at one, or the next page of a list of one. */
export interface Expiration {
  readonly client: string;
  readonly what: "watch" | "list";
  readonly resource: string;
  readonly revision: number;
  readonly at: number;
}

/** Everything that clients have sent and received. */
export interface History {
  readonly operations: Operation[];
  readonly listings: Listing[];
  readonly streams: Stream[];
  readonly expirations: Expiration[];
  /** Responses that no correct server gives. */
  readonly surprises: string[];
  /** Moments at which the server was started again. */
  readonly restarts: number[];
  /** Revisions up to which history was discarded on request, with the moment at which that was requested. */
  readonly compactions: { readonly at: number; readonly revision: number }[];
}

/** From when on the server may answer that a revision has expired. */
export interface Retention {
  /** Revisions younger than this are kept, in milliseconds. */
  readonly ms: number;
  /** And those with fewer changes after them. */
  readonly changes: number;
  /**
   * A restart forgets what was written before it, and in as many milliseconds after it: a cache that begins empty does so when
   * it is first needed, and writes do not wait for it. `-Infinity` if a restart forgets nothing.
   */
  readonly forgottenByRestart: number;
}

/** Something that must hold, and where it does not. */
export interface Check {
  readonly what: string;
  readonly problems: readonly string[];
}

export function emptyHistory(): History {
  return { operations: [], listings: [], streams: [], expirations: [], surprises: [], restarts: [], compactions: [] };
}

export function revisionOf(event: StreamEvent): number {
  return event.type === "BOOKMARK" ? event.revision : event.version.revision;
}

/** One operation, for people. */
export function describe({ client, resource, name, action, result, called, returned }: Operation): string {
  const { verb, ...request } = action;
  const shown = Object.entries(request).map(([key, value]) => `${key}=${value}`);
  const outcome =
    "version" in result
      ? `${result.is} ${result.version.revision} (${result.version.value}, uid ${result.version.uid.slice(0, 8)})`
      : "uid" in result
        ? `${result.is} uid ${result.uid.slice(0, 8)}`
        : result.is;
  const until = returned === Number.POSITIVE_INFINITY ? "never" : returned.toFixed(1);
  return `[${called.toFixed(1)}, ${until}] ${client}: ${verb} ${resource}/${name} ${shown.join(" ")} → ${outcome}`;
}
