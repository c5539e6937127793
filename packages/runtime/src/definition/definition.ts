import type { Client, ImpersonatedUser } from "@konverge/client";
import type {
  BackoffLimits,
  Clock,
  Conditions,
  KindRef,
  KubeObject,
  ObjectKey,
  TokenRate,
  UnknownFields,
} from "@konverge/core";
import type { Child, ObservedChild, OwnedKind, PlannedChild } from "../apply/child.ts";
import type { EventSink } from "../events/event-sink.ts";
import type { Log } from "../log.ts";
import type { PermissionDeclaration } from "../rbac/access.ts";
import type { Daemon } from "./daemon.ts";
import type { Predicate } from "./predicates.ts";
import type { Recurrence } from "./rhythm.ts";
import type { ReconcileSource, WatchedKind } from "./watched.ts";

/** The status that a reconciler of `T` reports; conditions and observedGeneration have their own ways. */
export type ReportedStatus<T> = T extends { status?: infer S }
  ? Partial<Omit<NonNullable<S>, "conditions" | "observedGeneration">>
  : never;

/** What a reconciler wants. What it leaves out is left as it is. */
export interface ReconcileResult<T extends KubeObject = KubeObject> {
  /** All children of the object; an empty list removes them all. */
  readonly children?: readonly (Child | PlannedChild)[] | undefined;
  /** The whole status. */
  readonly status?: ReportedStatus<T> | undefined;
  /**
   * Conditions to report, by type. Ready, Progressing and Degraded follow from the children where they are not stated;
   * undefined leaves one out.
   */
  readonly conditions?: Conditions | undefined;
  /** Reconcile again after this many milliseconds, whatever happens. */
  readonly requeueAfter?: number | undefined;
}

/** What `reconcile` returns: a result, or nothing if there is nothing to be done. */
// biome-ignore lint/suspicious/noConfusingVoidType: a function may well end without a return
export type Reconciled<T extends KubeObject> = ReconcileResult<T> | undefined | void;

/**
 * Refuses a reconciler whose result has fields that do not exist, in the status too: the compiler does not look for them in
 * what a function returns.
 */
export type CheckedReconciler<T extends KubeObject, R> = RefusedFields<UnknownFields<KnownResult<T>, R>>;

/** Nothing is refused where the compiler has reported another error already, and taken the type for `any`. */
type RefusedFields<Paths extends string> = [Paths] extends [never]
  ? unknown
  : unknown extends Paths
    ? unknown
    : { reconcile: `there is no field ${Paths}` };

interface KnownResult<T extends KubeObject> extends Omit<ReconcileResult<T>, "children"> {
  /** Checked where they are made. */
  readonly children?: unknown;
}

/** A cleanup that is not done yet. */
export interface PendingCleanup {
  /** What it waits for: told in the conditions and in an event. */
  readonly waitingFor: string;
  /** Reconcile again after this many milliseconds. Default: exponential back-off. */
  readonly requeueAfter?: number | undefined;
}

/** The object's own children as they are now. */
export interface ObservedChildren {
  /** The child that a draft speaks of. */
  <T extends KubeObject>(child: Child<T>): ObservedChild<T> | undefined;
  /** The child of that kind and name. */
  <T extends KubeObject>(kind: KindRef<T>, name: string): ObservedChild<T> | undefined;
  /** All children of a kind, in the order of their names. */
  all<T extends KubeObject>(kind: KindRef<T>): ObservedChild<T>[];
}

/** Reads other objects from the cache. Only kinds that the controller declares in `watches` are there. */
export interface CacheReader {
  get<T extends KubeObject>(kind: KindRef<T>, key: ObjectKey): T | undefined;
  /** All objects, or those of a namespace. */
  list<T extends KubeObject>(kind: KindRef<T>, namespace?: string): T[];
  /** The objects that a declared index has under a value. */
  find<T extends KubeObject>(kind: KindRef<T>, index: string, value: string): T[];
}

/** What a reconciler is given besides its object. */
export interface ReconcileContext {
  readonly observed: ObservedChildren;
  readonly cache: CacheReader;
  /** Reads and writes past the cache. What it reads and writes is seen by all later reads of the cache. */
  readonly client: Client;
  /** The same in the name that `as` gives; without it, the same. */
  readonly tenantClient: Client;
  /** Tells users what happened, in an Event about the object. */
  readonly events: EventSink;
  /**
   * Calls an external system: the same as calling `work`, but recorded under a name, so that a replay answers with what was
   * recorded instead of calling it again. Results must be JSON.
   */
  callExternal<R>(name: string, work: () => Promise<R>): Promise<R>;
  /**
   * True if it is time to do something again, such as `isDue("backup", { every: 3_600_000 })`. The object is requeued for the
   * next time; what was due counts as done when the reconcile succeeds.
   */
  isDue(name: string, rhythm: Recurrence): boolean;
  /** Fires when the reconcile's time is up, or when it must no longer act. */
  readonly signal: AbortSignal;
  readonly log: Log;
  readonly clock: Clock;
  /** The name of the cluster that the object is in, and the clients of all, held to the same limits as `client`. */
  readonly cluster: string;
  readonly clusters: ReadonlyMap<string, Client>;
}

interface CommonOptions<T extends KubeObject, R = Reconciled<T>> {
  /** Unique among an operator's controllers. It owns the fields they write. Default: the kind's plural and group. */
  name?: string;
  /** The kinds of children. Whatever changes them is undone, and they go when the object goes. */
  owns?: readonly (KindRef<KubeObject> | OwnedKind)[];
  /**
   * How children go when their object goes: by the garbage collector, all at once (`collected`, the default), or by the
   * controller, what came last first and each when the one before it is gone (`ordered`), for which it gets a finalizer.
   * Pruning always runs in reverse order.
   */
  teardown?: "collected" | "ordered";
  /**
   * The user in whose name an object's children are written:
   * `(o) => ({ user: `system:serviceaccount:${o.metadata.namespace}:builder` })`. An object can then create no more than its
   * tenant has permissions for. Finalizers, status and events are written as the controller.
   */
  impersonate?(object: T): ImpersonatedUser;
  /** Other kinds that reconcilers read, and what their changes lead to: see `watch` and `read`. */
  watches?: readonly WatchedKind<T>[];
  /** What reconcilers do through `client` besides, for the roles and the preflight: `permission(Secret, ["get"])`. */
  permissions?: readonly PermissionDeclaration[];
  /** Work for each object that goes on for as long as the object is there, by name. */
  daemons?: Readonly<Record<string, Daemon<T>>>;
  /** Keys to look at that come from outside. */
  sources?: readonly ReconcileSource[];
  /** Which changes of the object itself lead to a reconcile. Default: all but what this controller reported itself. */
  when?: Predicate<T>;
  /** Only objects with these labels. */
  labelSelector?: string;
  fieldSelector?: string;
  /** Only objects in these namespaces. Default: the manager's. */
  namespaces?: readonly string[];
  /** Only in these clusters, if the manager has several. */
  clusters?: readonly string[];
  /** Returns the desired state. Called again whenever something it may depend on has changed. */
  reconcile(object: T, context: ReconcileContext): R | Promise<R>;
  /** How many objects are worked on at the same time. Default: 10. */
  concurrency?: number;
  /** Milliseconds one reconcile may take. Default: two minutes. */
  deadline?: number;
  /** Look at every object this often, in milliseconds, even if nothing changed. Default: never. */
  resync?: number;
  /**
   * Report errors in the log only, not in events and conditions of the object: for controllers that report them themselves.
   * Default: false.
   */
  logErrorsOnly?: boolean;
  backoff?: Partial<BackoffLimits>;
  rateLimit?: TokenRate;
}

/** A cleanup brings its finalizer with it: there is none without the other. */
type CleanupOptions<T extends KubeObject> =
  | {
      /**
       * Takes away what the garbage collector cannot. Called while the object is being deleted, until it neither throws
       * nor returns what it waits for; only then the object may go.
       */
      cleanup(object: T, context: ReconcileContext): PendingCleanup | undefined | Promise<PendingCleanup | undefined>;
      /** Default: made from the controller's name. */
      finalizer?: string;
    }
  | { cleanup?: never; finalizer?: never };

export type ControllerOptions<T extends KubeObject, R = Reconciled<T>> = CommonOptions<T, R> & CleanupOptions<T>;

/**
 * The definition of a controller. It holds no state: {@link run} starts it.
 */
export interface Controller {
  readonly name: string;
  readonly kind: KindRef<KubeObject>;
  readonly owns: readonly OwnedKind[];
  /** Undefined if nothing needs to be done before an object goes. */
  readonly finalizer: string | undefined;
  readonly options: CommonOptions<KubeObject> & {
    cleanup?(
      object: KubeObject,
      context: ReconcileContext,
    ): PendingCleanup | undefined | Promise<PendingCleanup | undefined>;
  };
}
