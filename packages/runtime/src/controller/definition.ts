import type { Client, ImpersonatedUser } from "@konverge/client";
import type { Clock, Conditions, KindRef, KubeObject, ObjectKey } from "@konverge/core";
import type { Child, ExistingObject, OwnedKind, PlannedChild } from "../apply/child.ts";
import type { EventSink } from "../events/recorder.ts";
import type { Log } from "../log.ts";
import type { ReconcileRateLimit } from "../queue/token-bucket.ts";
import type { BackoffLimits } from "../queue/work-queue.ts";
import type { PermissionDeclaration } from "../rbac/access.ts";
import { checkDefinition, checkKind } from "./check-definition.ts";
import type { Daemon } from "./daemons.ts";
import type { Recurrence } from "./due-times.ts";
import type { Predicate } from "./predicates.ts";
import type { ReconcileSource, WatchedKind } from "./watched.ts";

/** The status that a reconciler of `T` reports; conditions and observedGeneration have their own ways. */
export type ReportedStatus<T> = T extends { status?: infer S }
  ? Partial<Omit<NonNullable<S>, "conditions" | "observedGeneration">>
  : never;

/** The desired state that a reconciler returns. What it leaves out stays as it is. */
export interface ReconcileResult<T extends KubeObject = KubeObject> {
  /** All children that the object should have; an empty list deletes them all. */
  children?: readonly (Child | PlannedChild)[];
  /** The whole status, without conditions. */
  status?: ReportedStatus<T>;
  /**
   * Conditions to report, by type. Ready, Progressing and Degraded follow from the children where they are not stated;
   * undefined leaves one out.
   */
  conditions?: Conditions;
  /** Reconcile again after this many milliseconds. */
  requeueAfter?: number;
}

/** Returned by a cleanup that is not finished. */
export interface PendingCleanup {
  /** What it waits for: reported in the conditions and in an event. */
  waitingFor: string;
  /** Clean up again after this many milliseconds. Default: with exponential backoff. */
  requeueAfter?: number;
}

/** The object's own children as they are in the cluster. */
export interface ObservedChildren {
  /** The child with the kind and name of a draft. */
  <C extends Child>(child: C): ExistingObject<C> | undefined;
  /** The child of a kind with a name. */
  <T extends KubeObject>(kind: KindRef<T>, name: string): T | undefined;
  /** All children of a kind, in the order of their names. */
  all<T extends KubeObject>(kind: KindRef<T>): T[];
}

/** Reads other objects from the cache. Only kinds that the controller declares in `watches` are there. */
export interface CacheReader {
  get<T extends KubeObject>(kind: KindRef<T>, key: ObjectKey): T | undefined;
  /** All objects, or those of a namespace. */
  list<T extends KubeObject>(kind: KindRef<T>, namespace?: string): T[];
  /** The objects that a declared index has under a value. */
  find<T extends KubeObject>(kind: KindRef<T>, index: string, value: string): T[];
}

/** The second argument of `reconcile` and `cleanup`. */
export interface ReconcileContext {
  readonly observed: ObservedChildren;
  readonly cache: CacheReader;
  /** Reads and writes past the cache. What it reads and writes is seen by all later reads of the cache. */
  readonly client: Client;
  /** `client`, acting as the user that `impersonate` returns; without it, the same as `client`. */
  readonly tenantClient: Client;
  /** Records Events about the object. */
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

interface CommonOptions<T extends KubeObject> {
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
  /** Other kinds that reconcilers read, and which objects their changes requeue: see {@link watchKind} and {@link cacheKind}. */
  watches?: readonly WatchedKind<T>[];
  /** Permissions for what reconcilers do through `client`, for the generated roles: `permission(Secret, ["get"])`. */
  permissions?: readonly PermissionDeclaration[];
  /** Work for each object that goes on for as long as the object is there, by name. */
  daemons?: Readonly<Record<string, Daemon<T>>>;
  /** Keys to look at that come from outside. */
  sources?: readonly ReconcileSource[];
  /** Which changes of the object itself are worth a look. Default: all but what this controller reported itself. */
  when?: Predicate<T>;
  /** Only objects with these labels. */
  labelSelector?: string;
  fieldSelector?: string;
  /** Only objects in these namespaces. Default: the manager's. */
  namespaces?: readonly string[];
  /** Only in these clusters, if the manager has several. */
  clusters?: readonly string[];
  /** Returns the desired state. Called again whenever something that it depends on has changed. */
  reconcile(
    object: T,
    context: ReconcileContext,
  ): ReconcileResult<T> | undefined | Promise<ReconcileResult<T> | undefined>;
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
  rateLimit?: ReconcileRateLimit;
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

/** Options of {@link controller}. */
export type ControllerOptions<T extends KubeObject> = CommonOptions<T> & CleanupOptions<T>;

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

/**
 * Defines a controller: for each object of the kind, `reconcile` returns the desired state.
 *
 * ```ts
 * const models = controller(LLMModel, {
 *   owns: [Deployment],
 *   reconcile: (model) => ({ children: [deploymentFor(model)] }),
 * });
 * ```
 */
export function controller<T extends KubeObject>(kind: KindRef<T>, options: ControllerOptions<T>): Controller {
  checkKind(kind);
  const name = options.name ?? (kind.group === "" ? kind.plural : `${kind.plural}.${kind.group}`);
  const owns = (options.owns ?? []).map((given) =>
    "plural" in (given ?? {}) ? { kind: given as KindRef<KubeObject> } : { ...(given as OwnedKind) },
  );
  const needsFinalizer =
    options.cleanup !== undefined ||
    options.daemons !== undefined ||
    options.teardown === "ordered" ||
    owns.some(({ by }) => by === "label");
  const definition: Controller = {
    name,
    kind,
    owns,
    finalizer: needsFinalizer ? (options.finalizer ?? finalizerOf(kind, name)) : undefined,
    // Only objects of the kind ever reach its functions.
    options: options as unknown as Controller["options"],
  };
  checkDefinition(definition);
  return definition;
}

/** Finalizers are qualified names: a domain, a slash, and a part of at most 63 characters. */
function finalizerOf(kind: KindRef<KubeObject>, name: string): string {
  const domain = kind.group.includes(".") ? kind.group : "konverge.dev";
  return `${domain}/${name.replace(/\..*$/, "").slice(0, 55)}-cleanup`;
}
