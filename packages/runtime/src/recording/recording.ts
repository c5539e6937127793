import type { KubeObject, ObjectKey } from "@konverge/core";
import type { ApiCall, NondeterministicInput, ReconcileEnd, ReconcileTrigger } from "../observe/observer.ts";

/** A recording is a file of lines, each a JSON object: this one first, then a {@link RecordedReconcile} for each reconcile. */
export interface RecordingHeader {
  readonly konverge: "recording";
  readonly version: 1;
}

export const HEADER: RecordingHeader = { konverge: "recording", version: 1 };

/** A kind in a recording. */
export interface RecordedKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

/** An error as recorded: enough to throw one of the same class. */
export interface RecordedError {
  readonly name: string;
  readonly message: string;
  readonly reason?: string;
  /** Set by errors that decide about the retry. */
  readonly requeueAfter?: number;
  /** The Status of an ApiError. */
  readonly status?: unknown;
}

/** A request and its response. */
export interface RecordedCall extends Pick<ApiCall, "verb" | "key" | "namespace" | "subresource" | "body"> {
  readonly kind: RecordedKind;
}

/** A query of the cache for several objects. */
export interface RecordedQuery {
  readonly kind: RecordedKind;
  readonly children?: boolean;
  readonly namespace?: string;
  readonly index?: string;
  readonly value?: string;
}

/** The result of a reconciler or a cleanup, without functions. */
export interface RecordedResult {
  /** By name: `Deployment.apps default/web`. Undefined: they stay unchanged. */
  readonly children?: Readonly<Record<string, RecordedChild>>;
  readonly status?: unknown;
  readonly conditions?: Readonly<Record<string, unknown>>;
  /** The revisions of the controllers that run because of the object, by name. */
  readonly controllers?: Readonly<Record<string, string>>;
  readonly requeueAfter?: number;
  /** What a cleanup waits for. */
  readonly waitingFor?: string;
  readonly error?: RecordedError;
}

/** A child's desired state. */
export interface RecordedChild {
  readonly draft: unknown;
  /** The names of the children that it comes after. */
  readonly after?: readonly string[];
  readonly onImmutable?: string;
  readonly onRefused?: string;
  readonly initially?: unknown;
  readonly unchanged?: boolean;
}

/** What became of the children. */
export interface RecordedOutcome {
  readonly created: readonly KubeObject[];
  readonly deleted: readonly KubeObject[];
  /** The children by name. */
  readonly refused: readonly { readonly child: string; readonly error: RecordedError }[];
}

/** One step of a reconcile. */
export type RecordedStep =
  | { readonly step: "read"; readonly kind: RecordedKind; readonly key: ObjectKey; readonly object: KubeObject | null }
  | { readonly step: "list"; readonly query: RecordedQuery; readonly objects: readonly KubeObject[] }
  | ({ readonly step: "call"; readonly call: RecordedCall } & RecordedAnswer)
  | ({ readonly step: "external"; readonly name: string } & RecordedAnswer)
  | { readonly step: "input"; readonly what: NondeterministicInput; readonly value: number | string }
  | { readonly step: "event"; readonly type: string; readonly reason: string; readonly message: string }
  | { readonly step: "called"; readonly what: "reconcile" | "cleanup"; readonly object: KubeObject }
  | { readonly step: "returned"; readonly result: RecordedResult }
  | {
      readonly step: "reported";
      readonly outcome: RecordedOutcome;
      readonly report: Pick<RecordedResult, "status" | "conditions" | "requeueAfter">;
    };

/** The response to a call. Without both, the reconcile ended before the response. */
export interface RecordedAnswer {
  readonly answer?: unknown;
  readonly error?: RecordedError;
}

/** One reconcile, from its triggers to its result. */
export interface RecordedReconcile {
  readonly cluster: string;
  readonly controller: string;
  readonly key: ObjectKey;
  /** When it started, in milliseconds since 1970. */
  readonly at: number;
  readonly triggers: readonly ReconcileTrigger[];
  /** The number of preceding failures. */
  readonly failures: number;
  readonly steps: readonly RecordedStep[];
  readonly end: { readonly outcome: ReconcileEnd["outcome"]; readonly error?: RecordedError; readonly next?: number };
}

/** The class of an error outlives it by its name. */
export function recordedError(error: unknown): RecordedError {
  if (!(error instanceof Error)) return { name: "Error", message: String(error) };
  const { reason, requeueAfter, status } = error as Error & {
    reason?: unknown;
    requeueAfter?: unknown;
    status?: unknown;
  };
  return {
    name: error.name,
    message: error.message,
    ...(typeof reason === "string" && { reason }),
    ...(typeof requeueAfter === "number" && { requeueAfter }),
    ...(status !== undefined && { status }),
  };
}
