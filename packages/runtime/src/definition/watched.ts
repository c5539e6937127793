import type { Client } from "@konverge/client";
import type { Clock, KindRef, KubeObject, ObjectKey } from "@konverge/core";
import type { CacheViewOptions } from "../cache/cache.ts";
import type { IndexFunction } from "../cache/indexes.ts";
import type { QueuePriority } from "../queue/work-queue.ts";
import type { Predicate } from "./predicates.ts";

/** Which objects of a kind are cached, and how to find them. */
export interface CacheKindOptions<W extends KubeObject>
  extends Pick<CacheViewOptions<W>, "labelSelector" | "fieldSelector" | "project"> {
  /** Only these namespaces. Default: the controller's. */
  namespaces?: readonly string[];
  /** The kind need not be installed: see {@link OwnedKind.optional}. */
  optional?: boolean;
  /** Indexes by name, for `cache.find`: `{ byNode: (pod) => [pod.spec.nodeName] }`. */
  indexes?: Readonly<Record<string, IndexFunction<W>>>;
}

/** Which objects of the controller's kind are reconciled when a watched object changes: `to` or `references`. */
export interface WatchKindOptions<W extends KubeObject, T extends KubeObject> extends CacheKindOptions<W> {
  /** The keys of the objects to reconcile. */
  to?: (object: W) => readonly ObjectKey[];
  /**
   * The keys of the watched objects that an object of the controller's kind refers to. The reverse lookup uses an
   * index: `watchKind(Secret, { references: (model) => [`${model.metadata.namespace}/${model.spec.secret}`] })`.
   */
  references?: (object: T) => readonly ObjectKey[];
  when?: Predicate<W>;
  priority?: QueuePriority;
}

/** A kind that a controller reads without owning it. Created by {@link watchKind} and {@link cacheKind}. */
export interface WatchedKind<T extends KubeObject = KubeObject> {
  readonly kind: KindRef<KubeObject>;
  readonly options: WatchKindOptions<KubeObject, T>;
}

/**
 * Reconciles objects of the controller's kind when an object of `kind` changes, and lets reconcilers read those from
 * the cache.
 */
export function watchKind<W extends KubeObject, T extends KubeObject = KubeObject>(
  kind: KindRef<W>,
  options: WatchKindOptions<W, T>,
): WatchedKind<T> {
  if (!options.to === !options.references) {
    throw new TypeError(`watchKind(${kind.kind}): set \`to\` or \`references\`, which map a change to objects`);
  }
  return { kind, options: options as unknown as WatchKindOptions<KubeObject, T> };
}

/** Lets reconcilers read objects of `kind` from the cache. Their changes do not cause a reconcile. */
export function cacheKind<W extends KubeObject, T extends KubeObject = KubeObject>(
  kind: KindRef<W>,
  options: CacheKindOptions<W> = {},
): WatchedKind<T> {
  return { kind, options: options as unknown as WatchKindOptions<KubeObject, T> };
}

/** The argument of a source. */
export interface ReconcileSourceContext {
  readonly client: Client;
  readonly clock: Clock;
  /** Fires when the controller stops. */
  readonly signal: AbortSignal;
}

/**
 * Yields keys to reconcile from outside the cluster: a message queue, a webhook, a timer. It is called when the
 * controller starts, and again with backoff when the iterable ends or throws.
 */
export type ReconcileSource = (context: ReconcileSourceContext) => AsyncIterable<ObjectKey>;
