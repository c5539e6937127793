import { type Client, isMetadataOnly, type WatchOptions } from "@konverge/client";
import { type KindRef, type KubeObject, type ObjectKey, splitKey } from "@konverge/core";
import { CustomResourceDefinition } from "@konverge/kinds";
import { Informer } from "./informer.ts";
import { KindGate, servedVersionsOf } from "./kind-gate.ts";
import { type Interest, stubOf, withoutManagedFields } from "./projection.ts";
import type { WatchScope } from "./selection.ts";
import { CacheView } from "./view.ts";

/** Which objects of a kind a view contains. */
export interface CacheViewOptions<T extends KubeObject = KubeObject> {
  /** Only these namespaces. Default: all of them. Empty: the view holds nothing, and nothing is watched. */
  namespaces?: readonly string[];
  labelSelector?: string;
  fieldSelector?: string;
  /** The objects to keep in full; of the others only their existence is kept. Default: all. */
  interest?: Interest<T>;
  /** Keep only part of each object: a smaller one, with at least its name, namespace, uid and resourceVersion. */
  project?: (object: T) => T;
  /** Keep metadata.managedFields, which are dropped otherwise. */
  managedFields?: boolean;
  /** The kind need not be installed: it is watched while its CustomResourceDefinition is there. */
  optional?: boolean;
}

export interface CacheOptions {
  /** Called when a watch fails. */
  onError?: (kind: KindRef<KubeObject>, error: Error, retryIn: number) => void;
  /**
   * The kinds whose objects are kept parsed: reading them costs nothing, but they take several times as much memory.
   * Default: none.
   */
  parsed?: (kind: KindRef<KubeObject>) => boolean;
  /** How kinds are listed and watched. */
  watch?: Pick<WatchOptions, "listing" | "pageSize" | "inactivity">;
}

interface Shared {
  readonly informer: Informer<KubeObject>;
  /** Starts the informer, if the kind is optional. */
  gate: KindGate | undefined;
  /** Undefined: all objects are needed. */
  interests: Set<Interest> | undefined;
  users: number;
}

/**
 * The informers of one cluster, one for each kind and scope, shared by all views with the same kind and scope. Only
 * declared kinds are watched: a read never starts a watch.
 */
export class Cache {
  readonly #client: Client;
  readonly #options: CacheOptions;
  /** The cache that this is a branch of. */
  readonly #trunk: Cache | undefined;
  /** What a branch has declared. */
  readonly #views = new Set<CacheView<KubeObject>>();
  readonly #managers: Set<string>;
  readonly #shared: Map<string, Shared>;
  readonly #projections: Map<unknown, number>;
  #started = false;

  constructor(client: Client, options: CacheOptions = {}, trunk?: Cache) {
    this.#client = client;
    this.#options = options;
    this.#trunk = trunk;
    this.#managers = trunk ? trunk.#managers : new Set();
    this.#shared = trunk ? trunk.#shared : new Map();
    this.#projections = trunk ? trunk.#projections : new Map();
  }

  /** The same cache, for one of several users: stopping a branch ends only the watches that were declared there. */
  branch(): Cache {
    return new Cache(this.#client, this.#options, this.#trunk ?? this);
  }

  /**
   * Registers a field manager of this process: its applied fields are kept for each object, and those of managers whose names
   * begin with its name and a slash. Call it before the cache starts.
   */
  addManager(name: string): void {
    this.#managers.add(name);
  }

  /** Declares a view. Its watch starts with the cache, or at once if the cache has started. */
  use<T extends KubeObject>(kind: KindRef<T>, need: CacheViewOptions<T> = {}): CacheView<T> {
    if (!this.#trunk) return this.#use(kind, need);
    const view: CacheView<T> = this.#trunk.#use(kind, need, () =>
      this.#views.delete(view as unknown as CacheView<KubeObject>),
    );
    this.#views.add(view as unknown as CacheView<KubeObject>);
    return view;
  }

  #use<T extends KubeObject>(kind: KindRef<T>, need: CacheViewOptions<T>, released?: () => void): CacheView<T> {
    const namespaces =
      kind.namespaced || need.namespaces?.length === 0 ? (need.namespaces ?? [undefined]) : [undefined];
    const names = namespaces.map((namespace) => this.#share(kind as AnyKind, { ...need, namespace } as ScopedNeed));
    const shared = names.map((name) => this.#shared.get(name)!);
    const informers = shared.map(({ informer }) => informer as unknown as Informer<T>);
    const release = () => {
      for (const name of names) this.#unshare(name);
      released?.();
    };
    return new CacheView(
      kind,
      informers,
      release,
      shared.flatMap(({ gate }) => gate ?? []),
    );
  }

  start(): void {
    if (this.#trunk) {
      this.#trunk.start();
      return;
    }
    this.#started = true;
    for (const { informer, gate } of this.#shared.values()) if (!gate) informer.start();
  }

  stop(): void {
    if (this.#trunk) {
      for (const view of [...this.#views]) view.release();
      return;
    }
    for (const { informer } of this.#shared.values()) informer.stop();
    this.#shared.clear();
  }

  /** The state of all informers, without those of optional kinds that are not served. */
  *informers(): IterableIterator<Informer<KubeObject>> {
    for (const { informer, gate } of this.#shared.values()) if (gate?.isWatched ?? true) yield informer;
  }

  /** An own write is in progress, see {@link Informer.expect}. */
  expect(kind: AnyKind, key: ObjectKey): () => void {
    const over = this.#holding(kind, splitKey(key).namespace).map((informer) => informer.expect(key));
    const [only] = over;
    if (only && over.length === 1) return only;
    return () => {
      for (const end of over) end();
    };
  }

  /** Stores the response to an own write, or to a read, in every informer that can contain the object. */
  saw(kind: AnyKind, object: KubeObject, writer: string | undefined): void {
    for (const informer of this.#holding(kind, object.metadata.namespace)) {
      // Metadata alone says nothing to those who hold whole objects.
      if (!isMetadataOnly(kind) || isMetadataOnly(informer.kind)) informer.saw(object, writer);
    }
  }

  /** Stores that an object is gone, see {@link Informer.missed}. */
  missed(kind: AnyKind, key: ObjectKey, uid: string, writer: string | undefined): void {
    for (const informer of this.#holding(kind, splitKey(key).namespace)) informer.missed(key, uid, writer);
  }

  /** The uid of an object, if it is known. */
  uidOf(kind: AnyKind, key: ObjectKey): string | undefined {
    for (const informer of this.#holding(kind, splitKey(key).namespace)) {
      const object = informer.get(key);
      if (object) return object.metadata.uid;
    }
    return undefined;
  }

  #share(kind: AnyKind, need: ScopedNeed): string {
    let name = this.#nameOf(kind, need);
    let shared = this.#shared.get(name);
    const isLate = this.#started;
    if (shared?.interests && isLate) {
      // It may have dropped what is needed now.
      name += IN_FULL;
      shared = this.#shared.get(name);
    }
    if (!shared) {
      shared = this.#newShared(kind, need);
      this.#shared.set(name, shared);
      if (this.#started && !shared.gate) shared.informer.start();
    }
    shared.users++;
    // Of one that starts late, others that come later may need what the first does not.
    if (need.interest && !(isLate && name.endsWith(IN_FULL))) shared.interests?.add(need.interest);
    else shared.interests = undefined;
    return name;
  }

  #newShared(kind: AnyKind, need: ScopedNeed): Shared {
    const trim = isMetadataOnly(kind)
      ? metadataOf
      : need.managedFields
        ? whole
        : (need.project ?? withoutManagedFields);
    const informer = new Informer(this.#client, kind, {
      namespace: need.namespace,
      labelSelector: need.labelSelector,
      fieldSelector: need.fieldSelector,
      managers: this.#managers,
      project: (object) => {
        const { interests } = shared;
        if (!interests) return trim(object);
        for (const interest of interests) if (interest(object)) return trim(object);
        return stubOf(object);
      },
      ...(this.#options.watch && { watch: this.#options.watch }),
      ...(this.#options.parsed?.(kind) && { parsed: true }),
      onError: (error, retryIn) => {
        shared.gate?.failed();
        this.#options.onError?.(kind, error, retryIn);
      },
      onSynced: () => shared.gate?.synced(),
    });
    const shared: Shared = { informer, gate: undefined, interests: new Set(), users: 0 };
    if (need.optional) shared.gate = new KindGate(informer, this.#definitionOf(kind));
    return shared;
  }

  /** The view of the CustomResourceDefinition of a kind. */
  #definitionOf({ plural, group }: AnyKind): CacheView<CustomResourceDefinition> {
    const fieldSelector = `metadata.name=${plural}.${group}`;
    return this.#use<CustomResourceDefinition>(CustomResourceDefinition, { fieldSelector, project: servedVersionsOf });
  }

  #unshare(name: string): void {
    const shared = this.#shared.get(name);
    if (!shared || --shared.users > 0) return;
    shared.gate?.close();
    shared.informer.stop();
    this.#shared.delete(name);
  }

  #nameOf(kind: AnyKind, need: ScopedNeed): string {
    const { namespace, labelSelector, fieldSelector, project, managedFields, optional } = need;
    if (project && !this.#projections.has(project)) this.#projections.set(project, this.#projections.size);
    const projection = project && this.#projections.get(project);
    const { group, version, plural } = kind;
    return JSON.stringify([
      [group, version, plural, isMetadataOnly(kind)],
      [namespace, labelSelector, fieldSelector],
      [projection, managedFields, optional],
    ]);
  }

  /** The informers that may hold an object. Asked several times for every request: there are few, and no iterators. */
  #holding(kind: AnyKind, namespace: string | undefined): Informer<KubeObject>[] {
    const holding: Informer<KubeObject>[] = [];
    this.#shared.forEach(({ informer }) => {
      const { group, version, plural } = informer.kind;
      if (plural !== kind.plural || group !== kind.group || version !== kind.version) return;
      if (informer.scope.namespace === undefined || informer.scope.namespace === namespace) holding.push(informer);
    });
    return holding;
  }
}

/** The name of an informer that keeps all objects, beside one that does not. */
const IN_FULL = " in full";

const whole = (object: KubeObject) => object;

/** Our own writes are answered with the whole object, also where only metadata is kept. */
const metadataOf = ({ apiVersion, kind, metadata }: KubeObject) => withoutManagedFields({ apiVersion, kind, metadata });

type AnyKind = KindRef<KubeObject>;
type ScopedNeed = CacheViewOptions & Pick<WatchScope, "namespace">;
