import { readFileSync } from "node:fs";
import { parseAllDocuments } from "yaml";

/**
 * A script is a conversation with an API server: the same steps are played on a real one and on the embedded one, and
 * what comes back is compared. One YAML document each; a file may hold several.
 *
 * ```yaml
 * name: a config map is created once
 * steps:
 *   - request: POST /api/v1/namespaces/$ns/configmaps
 *     body: { metadata: { name: a }, data: { k: v } }
 *     save: { uid: .metadata.uid }
 *   - watch: /api/v1/namespaces/$ns/configmaps?resourceVersion=0
 *     as: all
 *   - request: DELETE /api/v1/namespaces/$ns/configmaps/a
 *     body: { preconditions: { uid: $uid } }
 *   - events: all
 *     count: 2
 * ```
 *
 * In texts, `$name` stands for a variable and `$x1000` for a thousand letters. Scripts run in parallel, each in a separate
 * namespace, `$ns`. Cluster-scoped objects are named after it.
 */
export interface Script {
  readonly name: string;
  readonly file: string;
  /** Plays alone, after the others: it does something that they would notice. */
  readonly alone?: boolean;
  readonly steps: readonly Step[];
}

export type Step = RequestStep | WatchStep | EventsStep | WaitStep | CompactStep;

/** Sends a request; status, headers of note and body are compared. */
export interface RequestStep {
  readonly request: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON; a string is sent as it is, `{ bytes: base64 }` as those bytes. */
  readonly body?: unknown;
  /** Variables to take from the answer, by path: `{ uid: .metadata.uid }`. */
  readonly save?: Readonly<Record<string, string>>;
  /** Impersonates this user (and the groups after it): `jane, developers`. */
  readonly as?: string;
  /** Sends it once for each of these, as `$item`. */
  readonly each?: readonly (string | number)[];
}

/** Opens a watch under a name; {@link EventsStep} compares what it brings. */
export interface WatchStep {
  readonly watch: string;
  readonly as: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Waits until a watch has returned `count` events in total (bookmarks without the initial-events-end mark do not count). */
export interface EventsStep {
  readonly events: string;
  readonly count?: number;
  /** All events up to the one about an object of this name, however many they are. */
  readonly until?: string;
  /** The watch must end, too. */
  readonly ended?: boolean;
}

/** Waits for something to take effect (a CRD established, a role in force); what it sees on the way is not compared. */
export interface WaitStep {
  readonly wait: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly as?: string;
  /** The HTTP status to wait for. Default 200. */
  readonly status?: number;
  /** A path into the body and the value it must have. */
  readonly until?: { readonly path: string; readonly is: unknown };
}

/** Makes the server forget all history. */
export interface CompactStep {
  readonly compact: true;
}

const STEP_KINDS = ["request", "watch", "events", "wait", "compact"];

/** The scripts of a file, or an error that says which step of which script is wrong. */
export function loadScripts(file: string): Script[] {
  return parseAllDocuments(readFileSync(file, "utf8"), { merge: true }).map((document, index) => {
    if (document.errors.length > 0) throw new Error(`${file}, document ${index + 1}: ${document.errors[0]!.message}`);
    const { name, steps, alone } = (document.toJS() ?? {}) as Partial<Script>;
    if (!name || !Array.isArray(steps))
      throw new Error(`${file}, document ${index + 1}: a script needs a name and steps`);
    steps.forEach((step: Record<string, unknown>, at) => {
      if (STEP_KINDS.filter((kind) => kind in step).length !== 1)
        throw new Error(`${file}: "${name}", step ${at + 1}: needs exactly one of ${STEP_KINDS.join(", ")}`);
    });
    return { name, file, steps, ...(alone && { alone }) };
  });
}
