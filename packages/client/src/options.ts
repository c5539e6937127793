/** The options of every call. */
export interface CallOptions {
  /** Aborts the call; it then rejects with a TransportError of code `aborted`. */
  signal?: AbortSignal;
  /** Maximum duration of the call in milliseconds, retries included. Default: the client's. */
  timeout?: number;
  /** The same as a time of the monotonic clock. The earlier of the two applies. */
  deadline?: number;
}

export interface GetOptions extends CallOptions {
  /** Default: the latest version. "0": any version, from the server's cache. */
  resourceVersion?: string;
  /** Reads this subresource instead of the object. */
  subresource?: string;
}

/** Which objects of a kind. */
export interface ObjectSelection {
  /** Only this namespace. Default: all. */
  namespace?: string;
  /** As kubectl writes them: `app=web,tier in (a, b),!legacy`. */
  labelSelector?: string;
  /** `metadata.name=web`, `status.phase!=Running`, or what the kind declares selectable. */
  fieldSelector?: string;
}

export interface ListOptions extends CallOptions, ObjectSelection {
  /** At most this many objects; `metadata.continue` of the response is the token for the next page. */
  limit?: number;
  continue?: string;
  resourceVersion?: string;
  resourceVersionMatch?: "Exact" | "NotOlderThan";
}

export interface WriteOptions extends CallOptions {
  /** The field manager of this write. Default: the client's. */
  fieldManager?: string;
  /** Validate, admit and default, but store nothing. */
  dryRun?: boolean;
  /** What to do about unknown and duplicate fields. The server's default is Warn. */
  fieldValidation?: "Ignore" | "Warn" | "Strict";
  /** Writes to this subresource instead of the object. For `status` there are verbs. */
  subresource?: string;
}

export interface ApplyOptions extends WriteOptions {
  /** Acquire fields that other managers own, instead of failing with a conflict. */
  force?: boolean;
}

export interface DeleteOptions extends CallOptions {
  /** What happens to the objects that it owns. Default: the kind's default, usually Background. */
  propagationPolicy?: "Background" | "Foreground" | "Orphan";
  /** Delete only this object, in this state; otherwise fail with a conflict. */
  preconditions?: { uid?: string; resourceVersion?: string };
  /** Seconds until a pod is killed. 0 deletes it at once. */
  gracePeriodSeconds?: number;
  dryRun?: boolean;
}

export type Query = Record<string, string | number | boolean | readonly string[] | undefined>;

/** The query string of a path, with its question mark, or nothing. */
export function encodeQuery(query: Query): string {
  let text = "";
  for (const name in query) {
    const value = query[name];
    if (value === undefined) continue;
    for (const item of Array.isArray(value) ? value : [value]) {
      text += `${text === "" ? "?" : "&"}${name}=${encodeURIComponent(String(item))}`;
    }
  }
  return text;
}

export function selectionQuery({ labelSelector, fieldSelector }: ObjectSelection): Query {
  return { labelSelector: labelSelector || undefined, fieldSelector: fieldSelector || undefined };
}

export function listQuery(options: ListOptions): Query {
  return {
    ...selectionQuery(options),
    limit: options.limit,
    continue: options.continue || undefined,
    resourceVersion: options.resourceVersion,
    resourceVersionMatch: options.resourceVersionMatch,
  };
}

export function writeQuery(options: WriteOptions, defaultManager: string): Query {
  return {
    fieldManager: options.fieldManager ?? defaultManager,
    dryRun: options.dryRun ? "All" : undefined,
    fieldValidation: options.fieldValidation,
  };
}

/** The body of a delete; undefined when there is nothing to say. */
export function deleteBody(options: DeleteOptions): object | undefined {
  const { propagationPolicy, preconditions, gracePeriodSeconds, dryRun } = options;
  if (!propagationPolicy && !preconditions && gracePeriodSeconds === undefined && !dryRun) return undefined;
  return {
    apiVersion: "v1",
    kind: "DeleteOptions",
    ...(propagationPolicy && { propagationPolicy }),
    ...(preconditions && { preconditions }),
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    ...(dryRun && { dryRun: ["All"] }),
  };
}
