import type { Client } from "@konverge/client";
import { type AnyObject, type KindRef, type KubeObject, keyOf } from "@konverge/core";
import type { CacheReader, PendingCleanup, ReconcileContext } from "../definition/definition.ts";
import type { Log } from "../log.ts";

/** The last argument of the verbs. */
export interface ExternalVerbContext<T extends KubeObject> {
  /** The object that the external resource belongs to. */
  readonly object: T;
  /** Fires at the deadline of the reconcile. */
  readonly signal: AbortSignal;
  /** For credentials and settings: the Secret that the object names, for example. Its kind must be declared. */
  readonly cache: CacheReader;
  readonly client: Client;
  readonly log: Log;
}

/**
 * The verbs of an external resource that belongs to an object; `observe` never writes. `D` is its desired state, `O`
 * its observed state.
 */
export interface ExternalResourceVerbs<T extends KubeObject, D, O> {
  /** One word that distinguishes it from the object's other external resources: part of the annotation's name. */
  name: string;
  /** The id under which it is created; called once for each object. Default: the name and the object's uid. */
  id?(object: T): string;
  /** The resource with that id, or undefined. Must not change anything. */
  observe(id: string, call: ExternalVerbContext<T>): Promise<O | undefined>;
  /**
   * Creates it. The id has been stored before: if the response is lost, `observe` finds the resource under it. A system that
   * assigns its own ids gets this one as an idempotency token or a tag; return its id, which is stored instead.
   */
  create(id: string, desired: D, call: ExternalVerbContext<T>): Promise<string | undefined>;
  /** True if the observed state needs no update. */
  matches(observed: O, desired: D): boolean;
  update(id: string, desired: D, call: ExternalVerbContext<T> & { observed: O }): Promise<void>;
  /** Deletes it, or starts to: it is gone when `observe` returns undefined. */
  delete(id: string, call: ExternalVerbContext<T> & { observed: O }): Promise<void>;
  /** True: keep the resource when the object is deleted. */
  orphan?(object: T): boolean;
}

/** Made by {@link externalResource}: called from `reconcile` and from `cleanup`. */
export interface ExternalResource<T extends KubeObject, D, O> {
  /** Creates or updates the resource if it differs from `desired`, and returns its observed state. */
  converge(object: T, desired: D, context: ReconcileContext): Promise<O | undefined>;
  /** Deletes the resource, for `cleanup`; returns what it waits for, if anything. */
  remove(object: T, context: ReconcileContext): Promise<PendingCleanup | undefined>;
  /** The id of the resource, if one is stored. */
  idOf(object: T): string | undefined;
}

/** Milliseconds between checks of a resource that is being deleted. */
const REMOVAL_PERIOD = 5_000;

/**
 * Manages a resource outside the cluster that belongs to an object:
 *
 * ```ts
 * const bucket = externalResource(Dataset, { name: "bucket", observe, create, matches, update, delete: remove });
 *
 * controller(Dataset, {
 *   resync: 60_000, // no event reports drift
 *   reconcile: async (dataset, context) => ({ status: { url: (await bucket.converge(dataset, dataset.spec, context))?.url } }),
 *   cleanup: (dataset, context) => bucket.remove(dataset, context),
 * });
 * ```
 *
 * Guarantees
 * - The id is stored with the object before anything is created, so a crash neither leaks a resource nor creates it
 *   twice.
 * - Nothing is deleted whose id was not stored, or that `orphan` keeps.
 *
 * Assumptions: `create` with an id that exists fails or does nothing; `observe` finds what `create` has created.
 */
export function externalResource<T extends KubeObject, D, O>(
  kind: KindRef<T>,
  verbs: ExternalResourceVerbs<T, D, O>,
): ExternalResource<T, D, O> {
  const annotation = `konverge.dev/external-${verbs.name}`;
  const idOf = (object: T) => object.metadata.annotations?.[annotation];

  const record = async (object: T, id: string, { client }: ReconcileContext): Promise<string> => {
    const { uid } = object.metadata;
    const merge = { metadata: { uid, annotations: { [annotation]: id } } };
    await client.patch(kind as KindRef<KubeObject> as KindRef<AnyObject>, keyOf(object), { merge });
    return id;
  };

  /** The verbs for one object, by name, for recordings. */
  const toldVerbs = (object: T, context: ReconcileContext) => {
    const { callExternal } = context;
    const call: ExternalVerbContext<T> = {
      object,
      signal: context.signal,
      // What a reconcile looks at counts only when a verb does look at it.
      get cache() {
        return context.cache;
      },
      get client() {
        return context.client;
      },
      get log() {
        return context.log;
      },
    };
    const name = (verb: string) => `${verbs.name} ${verb}`;
    return {
      observe: (id: string) => callExternal(name("observe"), () => verbs.observe(id, call)),
      create: (id: string, desired: D) => callExternal(name("create"), () => verbs.create(id, desired, call)),
      update: (id: string, desired: D, observed: O) =>
        callExternal(name("update"), () => verbs.update(id, desired, observing(call, observed))),
      remove: (id: string, observed: O) =>
        callExternal(name("delete"), () => verbs.delete(id, observing(call, observed))),
    };
  };

  return {
    idOf,
    async converge(object, desired, context) {
      const { observe, ...told } = toldVerbs(object, context);
      let id = idOf(object) ?? (await record(object, (verbs.id ?? defaultId)(object), context));
      const observed = await observe(id);
      if (observed === undefined) {
        const given = await told.create(id, desired);
        if (given !== undefined && given !== id) id = await record(object, given, context);
      } else if (verbs.matches(observed, desired)) return observed;
      else await told.update(id, desired, observed);
      return await observe(id);
    },
    async remove(object, context) {
      const id = idOf(object);
      if (id === undefined || verbs.orphan?.(object)) return undefined;
      const told = toldVerbs(object, context);
      const observed = await told.observe(id);
      if (observed === undefined) return undefined;
      await told.remove(id, observed);
      if ((await told.observe(id)) === undefined) return undefined;
      return { waitingFor: `${verbs.name} ${id}`, requeueAfter: REMOVAL_PERIOD };
    },
  };

  function defaultId({ metadata }: KubeObject): string {
    return `${verbs.name}-${metadata.uid}`;
  }
}

/** The same context, with what was observed. Getters are kept. */
function observing<C extends object, O>(call: C, observed: O): C & { observed: O } {
  return Object.create(call, { observed: { value: observed, enumerable: true } });
}
