import type { Clock, KindRef, KubeObject, ObjectKey } from "@konverge/core";
import type { PendingCleanup, ReconcileResult } from "../definition/definition.ts";
import type { ControllerState, WatchState } from "./state.ts";

/** Why a key was put into a controller's queue. */
export interface ReconcileTrigger {
  readonly type: "object" | "child" | "watch" | "source" | "resync" | "after" | "retry" | "takeover" | "daemon";
  /** What changed, where something did. */
  readonly kind?: string;
  readonly key?: ObjectKey;
  readonly resourceVersion?: string;
  readonly change?: "added" | "changed" | "deleted";
}

/** A request to the API server. */
export interface ApiCall {
  readonly verb: "get" | "list" | "create" | "update" | "patch" | "apply" | "delete" | "deletecollection";
  readonly kind: KindRef<KubeObject>;
  /** Absent for lists, and for creations that let the server choose the name. */
  readonly key?: ObjectKey;
  readonly namespace?: string;
  readonly subresource?: string;
  /** What is sent, for writes. */
  readonly body?: unknown;
}

/** How a request ended. */
export interface ApiCallResult {
  readonly error?: unknown;
  /** The object as the server has it now, where it told. */
  readonly object?: KubeObject;
  readonly duration: number;
}

/** A reconcile about to begin. */
export interface ReconcileStart {
  readonly cluster: string;
  readonly controller: string;
  readonly key: ObjectKey;
  readonly triggers: readonly ReconcileTrigger[];
  /** Milliseconds the key has waited in the queue. */
  readonly waited: number;
  /** How often it has failed in a row before. */
  readonly failures: number;
}

/** How a reconcile ended. */
export interface ReconcileEnd {
  /**
   * `gone`: there is no such object (any more). `paused`: the user paused it. `stopped`: the controller may not
   * act any longer.
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

/** A question to the cache that several objects may answer. */
export interface CacheQuery {
  readonly kind: KindRef<KubeObject>;
  /** True: only the object's own children. */
  readonly children?: boolean;
  readonly namespace?: string;
  /** A declared index, and the value that was looked up in it. */
  readonly index?: string;
  readonly value?: string;
}

/** What a function of the controller's answered, or threw. */
export type ReconcileOutput =
  | { readonly result: ReconcileResult }
  | { readonly unfinished: PendingCleanup | undefined }
  | ThrownError;

export interface ThrownError {
  readonly error: unknown;
}

/** How something outside the cluster ended: with a value or an error. */
export type ExternalCallResult = { readonly value: unknown } | ThrownError;

/** What a reconciler may ask for that is not the same twice. */
export type NondeterministicInput = "now" | "monotonic" | "next" | "uuid" | "secret" | `due ${string}`;

/** Observes one reconcile. */
export interface ReconcileObserver {
  /** A function of the controller's is asked about the object. What follows until `wanted` is its own doing. */
  called?(what: "reconcile" | "cleanup", object: KubeObject): void;
  returned?(answer: ReconcileOutput): void;
  /** Objects were looked up in the cache. Each that was found is reported to `read` as well. */
  listed?(query: CacheQuery, objects: readonly KubeObject[]): void;
  /** It told users something. */
  eventRecorded?(event: { type: "Normal" | "Warning"; reason: string; message: string }): void;
  /** It reached out of the cluster; the function that is returned is called when that has ended. */
  externalCall?(name: string): ((answer: ExternalCallResult) => void) | undefined;
  /** It asked for the time, for a random number, for a secret (which must not be written down), or whether something is due. */
  inputRead?(what: NondeterministicInput, value: number | string): void;
  /** Runs the reconcile, so that it can be given an asynchronous context such as a span. */
  around?<R>(work: () => Promise<R>): Promise<R>;
  /** An object was read from the cache; undefined if it was not there. */
  objectRead?(kind: KindRef<KubeObject>, key: ObjectKey, object: KubeObject | undefined): void;
  /** A request is sent; the function that is returned is called when it is answered. */
  apiCall?(call: ApiCall): ((answer: ApiCallResult) => void) | undefined;
  ended?(end: ReconcileEnd): void;
}

/** What an observer can ask a manager at any time. */
export interface ManagerState {
  readonly clock: Clock;
  /** The controllers are at work. */
  readonly working: boolean;
  /** Another replica holds the lease: there is nothing to do. */
  readonly standby: boolean;
  /** The leases that it strives for: `namespace/name`. */
  readonly leases: readonly string[];
  controllers(): Iterable<ControllerState>;
  watches(): Iterable<WatchState>;
}

/**
 * Everything that happens passes through here: metrics, spans, logs and recordings are observers. An observer must not
 * throw; it sees, and changes nothing.
 */
export interface Observer {
  /** A manager was made that this observer will hear of. */
  managing?(manager: ManagerState): void;
  /** A key was put into a controller's queue. */
  triggered?(event: { cluster: string; controller: string; key: ObjectKey; trigger: ReconcileTrigger }): void;
  /** A reconcile begins. */
  reconciling?(start: ReconcileStart): ReconcileObserver | undefined;
  /** A watch failed; it is tried again. */
  watchFailed?(event: { cluster: string; kind: KindRef<KubeObject>; error: Error; retryIn: number }): void;
  /** A webhook is asked; the function that is returned is called with the HTTP status of its answer. */
  reviewing?(event: { webhook: string }): ((end: { code: number; duration: number }) => void) | undefined;
  /** A lease was won or lost. */
  leased?(event: { lease: string; identity: string; held: boolean }): void;
}

/** Several observers as one. */
export function combineObservers(list: readonly Observer[]): Observer {
  if (list.length < 2) return list[0] ?? {};
  return {
    ...callAll(list, ["managing", "triggered", "watchFailed", "leased"]),
    ...callAllTwice(list, ["reviewing"]),
    reconciling: (start) => together(list.flatMap((observer) => observer.reconciling?.(start) ?? [])),
  };
}

function together(list: readonly ReconcileObserver[]): ReconcileObserver {
  return {
    ...callAll(list, ["called", "returned", "listed", "eventRecorded", "inputRead", "objectRead", "ended"]),
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
