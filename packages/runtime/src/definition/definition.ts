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
import type { ChildrenOutcome } from "../apply/outcome.ts";
import type { EventSink } from "../events/event-sink.ts";
import type { Log } from "../log.ts";
import type { PermissionDeclaration } from "../rbac/access.ts";
import type { Daemon } from "./daemon.ts";
import type { Predicate } from "./predicates.ts";
import type { Recurrence } from "./rhythm.ts";
import type { ReconcileSource, WatchedKind } from "./watched.ts";

/** The status that a reconciler of `T` returns, without conditions and observedGeneration. */
export type ReportedStatus<T> = T extends { status?: infer S }
  ? Partial<Omit<NonNullable<S>, "conditions" | "observedGeneration">>
  : never;

/** The complete status of a `T`. */
export type WholeStatus<T> = T extends { status?: infer S } ? NonNullable<S> : never;

/** The desired state that a reconciler returns. Omitted fields stay unchanged. */
export interface ReconcileResult<T extends KubeObject = KubeObject> {
  /** All children of the object; an empty list deletes them all. */
  readonly children?: readonly (Child | PlannedChild)[] | undefined;
  /** The whole status. */
  readonly status?: ReportedStatus<T> | undefined;
  /** The complete status, with its conditions, of a controller with `status: "whole"`; instead of `status` and `conditions`. */
  readonly wholeStatus?: WholeStatus<T> | undefined;
  /**
   * Conditions to report, by type. Ready, Progressing and Degraded are derived from the children unless they are
   * returned: with no children, an object that was reconciled is Ready. Where no kind is owned and Ready is returned, the other two are
   * removed unless they are returned as well. Undefined removes one.
   */
  readonly conditions?: Conditions | undefined;
  /**
   * The controllers that run because of this object, until it is gone; an empty list stops them all. Those of an object whose
   * deletion begins stay as they are. See `dynamicController`.
   */
  readonly controllers?: readonly DynamicController[] | undefined;
  /** Reconcile again after this many milliseconds. */
  readonly requeueAfter?: number | undefined;
  /**
   * Called when the children have been applied, with what was created, deleted and refused. What it returns is reported
   * beside the above; a `status`, condition or `requeueAfter` of the same name replaces the one above.
   */
  readonly report?: ((outcome: ChildrenOutcome) => ChildrenReport<T> | undefined) | undefined;
}

/** What the `report` of a result returns. */
export type ChildrenReport<T extends KubeObject = KubeObject> = Pick<
  ReconcileResult<T>,
  "status" | "wholeStatus" | "conditions" | "requeueAfter"
>;

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
  /** What it waits for, as reported in the conditions and in an event. */
  readonly waitingFor: string;
  /** Retry after this many milliseconds. Default: exponential backoff. */
  readonly requeueAfter?: number | undefined;
  /** The controllers that it needs until then; a process that starts meanwhile runs no others of the object. */
  readonly controllers?: readonly DynamicController[] | undefined;
}

/** The object's own children as they are now. */
export interface ObservedChildren {
  /** The child with the kind and name of a draft. */
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
  /** The objects that a declared index has for a value. */
  find<T extends KubeObject>(kind: KindRef<T>, index: string, value: string): T[];
}

/** The second argument of `reconcile` and `cleanup`. */
export interface ReconcileContext {
  readonly observed: ObservedChildren;
  readonly cache: CacheReader;
  /** Reads and writes without the cache. Later reads of the cache see the results. */
  readonly client: Client;
  /** The same client as the user that `impersonate` returns; `client` if there is none. */
  readonly tenantClient: Client;
  /** Emits Events about the object. */
  readonly events: EventSink;
  /**
   * Calls an external system: the same as calling `work`, but recorded under a name, so that a replay answers with what was
   * recorded instead of calling it again. Results must be JSON, or nothing.
   */
  callExternal<R>(name: string, work: () => R | Promise<R>): Promise<R>;
  /**
   * Whether it is time to do something again, such as `isDue("backup", { every: 3_600_000 })`. The object is requeued
   * for the next time; what was due counts as done when the reconcile succeeds.
   */
  isDue(name: string, rhythm: Recurrence): boolean;
  /** Whether a kind in `owns` or `watches` is served, if it is optional; true for all others. */
  isServed(kind: KindRef<KubeObject>): boolean;
  /**
   * How far a controller is that the object returned in its last reconcile, by its `name`. The object is reconciled when that
   * changes. Undefined: it has returned none of that name.
   */
  controllerState(name: string): DynamicControllerState | undefined;
  /** Fires at the deadline of the reconcile, or when the lease is lost. */
  readonly signal: AbortSignal;
  readonly log: Log;
  readonly clock: Clock;
  /** The name of the object's cluster, and the clients of all clusters, with the same limits as `client`. */
  readonly cluster: string;
  readonly clusters: ReadonlyMap<string, Client>;
}

/** The delays after failures in a row. */
export interface RetryBackoff extends Partial<BackoffLimits> {
  /**
   * Retry what the API server refuses as invalid with the same delays, too. Default: false, after five minutes, because it
   * will be refused again until something changes.
   */
  refused?: boolean;
  /** A test cluster counts as idle while retries wait. Default: false. */
  background?: boolean;
}

interface CommonOptions<T extends KubeObject, R = Reconciled<T>> {
  /**
   * Unique among an operator's controllers, and the field manager of what it writes. Default: the kind's plural and
   * group.
   */
  name?: string;
  /** The kinds of children. Changes by other clients are reverted, and children are deleted with the object. */
  owns?: readonly (KindRef<KubeObject> | OwnedKind)[];
  /**
   * How children are deleted with their object: by the garbage collector, all at once (`collected`, the default), or by
   * the controller, in reverse order and one after the other (`ordered`), which needs a finalizer. Pruning always runs
   * in reverse order.
   */
  teardown?: "collected" | "ordered";
  /**
   * The user as which an object's children are written: `(o) => ({ user:
   * `system:serviceaccount:${o.metadata.namespace}:builder` })`. An object can then create only what its tenant has
   * permissions for. Finalizers, status and events are written as the controller.
   */
  impersonate?(object: T): ImpersonatedUser;
  /**
   * Other kinds that reconcilers read, and the reconciles that their changes cause: see `watchKind` and `cacheKind`.
   */
  watches?: readonly WatchedKind<T>[];
  /**
   * Controllers that results will have (`dynamicController`), as far as they are known when roles are written: their permissions
   * are part of this controller's.
   */
  knownControllers?: readonly Controller[];
  /** What reconcilers do through `client`, for the roles and the preflight: `permission(Secret, ["get"])`. */
  permissions?: readonly PermissionDeclaration[];
  /** Work for each object that runs for as long as the object exists, by name. */
  daemons?: Readonly<Record<string, Daemon<T>>>;
  /** Keys to reconcile that come from outside the cluster. */
  sources?: readonly ReconcileSource[];
  /** Which changes of the object itself cause a reconcile. Default: all except this controller's own status writes. */
  when?: Predicate<T>;
  /** Only objects with these labels. */
  labelSelector?: string;
  fieldSelector?: string;
  /** Only objects in these namespaces. Default: the manager's. */
  namespaces?: readonly string[];
  /** Only in these clusters, if the manager has several. */
  clusters?: readonly string[];
  /** Returns the desired state. Called again when something that it can depend on has changed. */
  reconcile(object: T, context: ReconcileContext): R | Promise<R>;
  /** How many objects are reconciled at the same time. Default: 10. */
  concurrency?: number;
  /** Maximum duration of a reconcile, in milliseconds. Default: two minutes. */
  deadline?: number;
  /** Interval at which every object is reconciled even if nothing changed, in milliseconds. Default: never. */
  resync?: number;
  /**
   * How the status is written:
   * - `fields`, the default: what this controller reports is applied, beside the fields and conditions of other clients. The
   *   runtime adds observedGeneration, conditions that follow from the children, and those of failures.
   * - `whole`: for kinds whose status is another project's API. `wholeStatus` replaces the status by an update, if it
   *   differs and nothing has changed the object since it was read. The runtime adds nothing. Each change of the status causes
   *   another reconcile, so that what a decision leads to can be done after the decision is stored.
   */
  status?: "fields" | "whole";
  /**
   * Report errors in the log only, not in events and conditions of the object, and neither report nor slow down hot loops: for
   * controllers that report what Kubernetes defines, and no more. Default: false.
   */
  logErrorsOnly?: boolean;
  backoff?: RetryBackoff;
  rateLimit?: TokenRate;
}

/** A cleanup brings its finalizer with it: there is none without the other. */
type CleanupOptions<T extends KubeObject> =
  | {
      /**
       * Removes what the garbage collector cannot. Called while the object is being deleted, until it neither throws
       * nor returns what it waits for; then the finalizer is removed.
       */
      cleanup(object: T, context: ReconcileContext): PendingCleanup | undefined | Promise<PendingCleanup | undefined>;
      /** Default: derived from the controller's name. */
      finalizer?: string;
      /**
       * Which objects get the finalizer. One that has it keeps it, and is cleaned up, even if it does not need to be any
       * more. Default: all.
       */
      needsCleanup?(object: T): boolean;
    }
  | { cleanup?: never; finalizer?: never; needsCleanup?: never };

export type ControllerOptions<T extends KubeObject, R = Reconciled<T>> = CommonOptions<T, R> & CleanupOptions<T>;

/**
 * The definition of a controller. It holds no state: {@link run} starts it.
 */
export interface Controller {
  readonly name: string;
  readonly kind: KindRef<KubeObject>;
  readonly owns: readonly OwnedKind[];
  /** Undefined if nothing has to be done before an object is deleted. */
  readonly finalizer: string | undefined;
  readonly options: CommonOptions<KubeObject> & {
    cleanup?(
      object: KubeObject,
      context: ReconcileContext,
    ): PendingCleanup | undefined | Promise<PendingCleanup | undefined>;
    needsCleanup?(object: KubeObject): boolean;
  };
}

/** A controller that runs while an object returns it, see {@link dynamicController}. */
export interface DynamicController {
  readonly controller: Controller;
  readonly revision: string;
}

/** How far a controller is that a reconciler returned. */
export interface DynamicControllerState {
  /** `waiting`: its kind is not served. `starting`: what it reads has not been listed yet. */
  readonly state: "waiting" | "starting" | "running";
  /** What it waits for, such as the error of a watch. */
  readonly message?: string;
}
