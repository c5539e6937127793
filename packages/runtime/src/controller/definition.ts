import type { Client } from "@konverge/client";
import type { Clock, KindRef, KubeObject, ObjectKey, ObjectMeta } from "@konverge/core";
import type { Child } from "../apply/children.ts";
import type { Log } from "../log.ts";
import type { RateLimit } from "../queue/token-bucket.ts";
import type { BackoffLimits } from "../queue/work-queue.ts";
import type { Conditions } from "./conditions.ts";

/** The status that a reconciler of `T` states; conditions and observedGeneration have their own ways. */
export type ReportedStatus<T> = T extends { status?: infer S }
  ? Partial<Omit<NonNullable<S>, "conditions" | "observedGeneration">>
  : never;

/** What a reconciler wants. */
export interface Result<T extends KubeObject = KubeObject> {
  /** All children the object shall have. Left out: leave them alone. Empty: remove them all. */
  children?: readonly Child[];
  /** What to report in the status. Fields left out are removed if they were reported before. */
  status?: ReportedStatus<T>;
  conditions?: Conditions;
  /** Look again after this many milliseconds, whatever happens. */
  after?: number;
}

/** An object that exists, in the type in which it was drafted. */
export type Existing<C> = Omit<C, "metadata"> & { metadata: ObjectMeta };

/** The object's own children as they are now. */
export interface Observed {
  /** The child that a draft speaks of. */
  <C extends Child>(child: C): Existing<C> | undefined;
  /** The child of that kind and name. */
  <T extends KubeObject>(kind: KindRef<T>, name: string): T | undefined;
  /** All children of a kind. */
  all<T extends KubeObject>(kind: KindRef<T>): T[];
}

/** What a reconciler is given besides its object. */
export interface Context {
  readonly observed: Observed;
  /** Reads and writes past the cache. What it writes is seen by all later reads. */
  readonly client: Client;
  /** Fires when the reconcile's time is up or the controller stops. */
  readonly signal: AbortSignal;
  readonly log: Log;
  readonly clock: Clock;
}

/** A kind to watch, and which objects to look at when one of it changes. */
export interface Watched {
  readonly kind: KindRef<KubeObject>;
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly to: (object: KubeObject) => readonly ObjectKey[];
}

/** When objects of `kind` change, look at those that `to` names. */
export function watch<T extends KubeObject>(
  kind: KindRef<T>,
  options: { to: (object: T) => readonly ObjectKey[]; namespace?: string; labelSelector?: string },
): Watched {
  return { kind: kind as unknown as KindRef<KubeObject>, ...options } as Watched;
}

interface CommonOptions<T extends KubeObject> {
  /** Unique among an operator's controllers. It owns the fields they write. Default: the kind's plural and group. */
  name?: string;
  /** The kinds of children. Whatever changes them is undone, and they go when the object goes. */
  owns?: readonly KindRef<KubeObject>[];
  watches?: readonly Watched[];
  /** Says what shall be. Called again whenever something it may depend on has changed. */
  reconcile(object: T, context: Context): Result<T> | undefined | Promise<Result<T> | undefined>;
  /** How many objects are worked on at the same time. Default: 10. */
  concurrency?: number;
  /** Milliseconds one reconcile may take. Default: two minutes. */
  deadline?: number;
  /** Look at every object this often, in milliseconds, even if nothing changed. Default: never. */
  resync?: number;
  backoff?: Partial<BackoffLimits>;
  rate?: RateLimit;
}

/** A cleanup brings its finalizer with it: there is none without the other. */
type CleanupOptions<T extends KubeObject> =
  | {
      /**
       * Takes away what the garbage collector cannot. Called when the object is being deleted, until it does not throw;
       * only then the object may go.
       */
      cleanup(object: T, context: Context): void | Promise<void>;
      /** Default: made from the controller's name. */
      finalizer?: string;
    }
  | { cleanup?: never; finalizer?: never };

export type ControllerOptions<T extends KubeObject> = CommonOptions<T> & CleanupOptions<T>;

/** A controller as it is written down. Nothing is started and nothing is remembered: running it is the manager's. */
export interface Controller<T extends KubeObject = KubeObject> {
  readonly name: string;
  readonly kind: KindRef<T>;
  readonly finalizer: string | undefined;
  readonly options: CommonOptions<T> & { cleanup?(object: T, context: Context): void | Promise<void> };
}

/** Defines a controller: for each object of the kind, `reconcile` says what shall be. */
export function controller<T extends KubeObject>(kind: KindRef<T>, options: ControllerOptions<T>): Controller<T> {
  const name = options.name ?? (kind.group === "" ? kind.plural : `${kind.plural}.${kind.group}`);
  return { name, kind, finalizer: options.cleanup && (options.finalizer ?? finalizerOf(kind, name)), options };
}

/** Finalizers are qualified names: a domain, a slash, and a part of at most 63 characters. */
function finalizerOf(kind: KindRef<KubeObject>, name: string): string {
  const domain = kind.group.includes(".") ? kind.group : "konverge.dev";
  return `${domain}/${name.replace(/\..*$/, "").slice(0, 55)}-cleanup`;
}
