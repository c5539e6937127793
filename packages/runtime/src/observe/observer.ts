import type { Clock, KindRef, KubeObject, ObjectKey } from "@konverge/core";
import type { ChildrenOutcome } from "../apply/outcome.ts";
import type { ChildrenReport, PendingCleanup, ReconcileResult } from "../definition/definition.ts";
import type { ControllerState, WatchState } from "./state.ts";

/** Why a key was put into a controller's queue. */
export interface ReconcileTrigger {
  readonly type:
    | "object"
    | "child"
    | "watch"
    | "source"
    | "resync"
    | "after"
    | "retry"
    | "takeover"
    | "daemon"
    /** An optional kind has been installed or removed. */
    | "kind"
    /** A controller that the object returned has started, or cannot. */
    | "controller";
  /** The object that changed, if any. */
  readonly kind?: string;
  readonly key?: ObjectKey;
  readonly resourceVersion?: string;
  readonly change?: "added" | "changed" | "deleted";
  /** The controller's last reconcile made the change. */
  readonly own?: true;
}

/** A request to the API server. */
export interface ApiCall {
  readonly verb: "get" | "list" | "create" | "update" | "patch" | "apply" | "delete" | "deletecollection";
  readonly kind: KindRef<KubeObject>;
  /** Undefined for lists, and if the server generates the name. */
  readonly key?: ObjectKey;
  readonly namespace?: string;
  readonly subresource?: string;
  /** The body of a write. */
  readonly body?: unknown;
}

/** How a request ended. */
export interface ApiCallResult {
  readonly error?: unknown;
  /** The object as the server returned it, if it did. */
  readonly object?: KubeObject;
  readonly duration: number;
}

/** The start of a reconcile. */
export interface ReconcileStart {
  readonly cluster: string;
  readonly controller: string;
  readonly key: ObjectKey;
  readonly triggers: readonly ReconcileTrigger[];
  /** Milliseconds the key has waited in the queue. */
  readonly waited: number;
  /** The number of preceding failures. */
  readonly failures: number;
}

/** How a reconcile ended. */
export interface ReconcileEnd {
  /**
   * `gone`: the object does not exist. `paused`: the user paused it. `stopped`: the lease is lost or the manager stops.
   */
  readonly outcome:
    | "done"
    | "gone"
    | "paused"
    | "waiting"
    | "conflict"
    | "transient"
    | "permanent"
    | "external"
    | "stopped";
  readonly error?: unknown;
  /** Milliseconds until the next reconcile, if one is planned. */
  readonly next?: number;
  readonly duration: number;
}

/** A query of the cache for several objects. */
export interface CacheQuery {
  readonly kind: KindRef<KubeObject>;
  /** True: only the object's own children. */
  readonly children?: boolean;
  readonly namespace?: string;
  /** A declared index, and the value that was looked up in it. */
  readonly index?: string;
  readonly value?: string;
}

/** What a function of the controller returned or threw. */
export type ReconcileOutput =
  | { readonly result: ReconcileResult }
  | { readonly unfinished: PendingCleanup | undefined }
  | ThrownError;

export interface ThrownError {
  readonly error: unknown;
}

/** The result of an external call: a value or an error. */
export type ExternalCallResult = { readonly value: unknown } | ThrownError;

/** An input of a reconciler that differs between two runs. */
export type NondeterministicInput =
  | "now"
  | "monotonic"
  | "next"
  | "uuid"
  | "secret"
  | `due ${string}`
  | `served ${string}`
  | `controller ${string}`;

/** Observes one reconcile. */
export interface ReconcileObserver {
  /** A function of the controller is called. What follows until `returned` happens in it. */
  called?(what: "reconcile" | "cleanup", object: KubeObject): void;
  returned?(answer: ReconcileOutput): void;
  /** The result's `report` was called, with what became of the children. */
  reported?(outcome: ChildrenOutcome, report: ChildrenReport): void;
  /** Objects were looked up in the cache. Each object that was found is reported to `objectRead`, too. */
  listed?(query: CacheQuery, objects: readonly KubeObject[]): void;
  /** It emitted an Event. */
  eventRecorded?(event: { type: "Normal" | "Warning"; reason: string; message: string }): void;
  /** It called an external system; the returned function is called when the call has ended. */
  externalCall?(name: string): ((answer: ExternalCallResult) => void) | undefined;
  /** It read the time, a random number, a secret (which must not be recorded), whether something is due, whether a kind is served, or how far a controller is. */
  inputRead?(what: NondeterministicInput, value: number | string): void;
  /** Runs the reconcile, so that it can be given an asynchronous context such as a span. */
  around?<R>(work: () => Promise<R>): Promise<R>;
  /** An object was read from the cache; undefined if it does not exist. */
  objectRead?(kind: KindRef<KubeObject>, key: ObjectKey, object: KubeObject | undefined): void;
  /** A request is sent; the returned function is called with its result. */
  apiCall?(call: ApiCall): ((answer: ApiCallResult) => void) | undefined;
  ended?(end: ReconcileEnd): void;
}

/** The state of a manager, for observers. */
export interface ManagerState {
  readonly clock: Clock;
  /** The controllers work. */
  readonly working: boolean;
  /** Another replica holds the lease. */
  readonly standby: boolean;
  /** The leases that it tries to acquire: `namespace/name`. */
  readonly leases: readonly string[];
  controllers(): Iterable<ControllerState>;
  watches(): Iterable<WatchState>;
}

/**
 * Receives everything that happens: metrics, spans, logs and recordings are observers. An observer must not throw or
 * change anything.
 */
export interface Observer {
  /** A manager was created with this observer. */
  managing?(manager: ManagerState): void;
  /** A key was put into a controller's queue. */
  triggered?(event: { cluster: string; controller: string; key: ObjectKey; trigger: ReconcileTrigger }): void;
  /** A reconcile begins. */
  reconciling?(start: ReconcileStart): ReconcileObserver | undefined;
  /** An object is reconciled again and again for no reason from outside. */
  hotLoop?(event: { cluster: string; controller: string; key: ObjectKey; message: string }): void;
  /** A watch failed and is retried. */
  watchFailed?(event: { cluster: string; kind: KindRef<KubeObject>; error: Error; retryIn: number }): void;
  /** A webhook is called; the returned function is called with the HTTP status of the response. */
  reviewing?(event: { webhook: string }): ((end: { code: number; duration: number }) => void) | undefined;
  /** A lease was acquired or lost. */
  leased?(event: { lease: string; identity: string; held: boolean }): void;
}

/** Several observers as one. */
export function combineObservers(list: readonly Observer[]): Observer {
  if (list.length < 2) return list[0] ?? {};
  return {
    ...callAll(list, ["managing", "triggered", "hotLoop", "watchFailed", "leased"]),
    ...callAllTwice(list, ["reviewing"]),
    reconciling: (start) => together(list.flatMap((observer) => observer.reconciling?.(start) ?? [])),
  };
}

function together(list: readonly ReconcileObserver[]): ReconcileObserver {
  return {
    ...callAll(list, ["called", "returned", "reported", "listed", "eventRecorded", "inputRead", "objectRead", "ended"]),
    ...callAllTwice(list, ["externalCall", "apiCall"]),
    around: (work) => list.reduce((inner, observer) => () => observer.around?.(inner) ?? inner(), work)(),
  };
}

type Methods = Readonly<Record<string, ((...args: readonly unknown[]) => unknown) | undefined>>;

/** Methods that call those of all observers. One that no observer has is left out: its arguments can be costly. */
function callAll<O extends object>(list: readonly O[], names: readonly (keyof O & string)[]): Partial<O> {
  const methods: Record<string, unknown> = {};
  for (const name of names) {
    const having = (list as readonly Methods[]).filter((one) => one[name]);
    if (having.length === 0) continue;
    methods[name] = (...args: readonly unknown[]) => {
      for (const one of having) one[name]!(...args);
    };
  }
  return methods as Partial<O>;
}

/** The same for methods that return what is to be called when the matter has ended. */
function callAllTwice<O extends object>(list: readonly O[], names: readonly (keyof O & string)[]): Partial<O> {
  const start = (name: string) => (event: unknown) => {
    const ends = (list as readonly Methods[]).map((one) => one[name]?.(event) as ((end: unknown) => void) | undefined);
    return (end: unknown) => {
      for (const ended of ends) ended?.(end);
    };
  };
  return Object.fromEntries(names.map((name) => [name, start(name)])) as Partial<O>;
}
