import {
  apiVersionOf,
  type Clock,
  type KindRef,
  type KubeList,
  type KubeObject,
  keyOf,
  type ObjectKey,
  type ObjectMeta,
  realClock,
  resourcePath,
  splitKey,
  type Transport,
} from "@konverge/core";
import { type Call, Caller } from "./call.ts";
import {
  type ApplyOptions,
  type CallOptions,
  type DeleteOptions,
  deleteBody,
  encodeQuery,
  type GetOptions,
  type ListOptions,
  listQuery,
  type Selection,
  selectionQuery,
  type WriteOptions,
  writeQuery,
} from "./options.ts";
import { type DeepPartial, encodePatch, type Patch } from "./patch.ts";
import { RateLimit, type RateLimitOptions } from "./rate-limit.ts";
import { acceptList, acceptObject, stamp, stampList } from "./representation.ts";
import type { RetryOptions } from "./retry.ts";
import { Watch, type WatchOptions } from "./watch/watch.ts";

export interface ClientOptions {
  /** Default: the machine's. */
  clock?: Clock;
  /** The namespace of keys that name none. Default: `default`. */
  namespace?: string;
  /** Owns the fields this client writes. Default: `konverge`. */
  fieldManager?: string;
  /** Milliseconds a call may take when it does not say. Default: 65 s, just longer than a server's own limit. */
  timeout?: number;
  userAgent?: string;
  /** How requests are repeated that are safe to repeat; false: never. */
  retry?: RetryOptions | false;
  /** A limit on this client's own requests. Default: none, servers protect themselves. */
  limit?: RateLimitOptions;
  /** Told the warnings that the server sends along with an answer. */
  onWarning?: (message: string) => void;
}

/** An object on its way to the server: apiVersion and kind follow from the kind, the server fills in the rest. */
export type NewObject<T extends KubeObject> = Omit<T, "apiVersion" | "kind" | "metadata"> & {
  apiVersion?: string;
  kind?: string;
  metadata: Partial<ObjectMeta>;
};

/** The fields that an apply claims, and no others. */
export type AppliedObject<T extends KubeObject> = DeepPartial<Omit<T, "apiVersion" | "kind" | "metadata">> & {
  apiVersion?: string;
  kind?: string;
  metadata: Partial<ObjectMeta>;
};

/**
 * The verbs of the Kubernetes API, typed by kind. An object is named by its key: `"web"` in the client's own namespace,
 * `"prod/web"` in another, `keyOf(object)` for one at hand.
 *
 * ```ts
 * const web = await client.get(Deployment, "prod/web");
 * await client.patch(Deployment, "prod/web", { merge: { spec: { replicas: 3 } } });
 * ```
 */
export class Client {
  readonly clock: Clock;
  /** The namespace of keys that name none. */
  readonly namespace: string;
  readonly fieldManager: string;
  readonly #caller: Caller;

  constructor(transport: Transport, options: ClientOptions = {}) {
    this.clock = options.clock ?? realClock();
    this.namespace = options.namespace ?? "default";
    this.fieldManager = options.fieldManager ?? "konverge";
    this.#caller = new Caller(transport, {
      clock: this.clock,
      timeout: options.timeout ?? 65_000,
      userAgent: options.userAgent ?? "konverge",
      ...(options.retry !== undefined && { retry: options.retry }),
      ...(options.limit && { limit: new RateLimit(this.clock, options.limit) }),
      ...(options.onWarning && { onWarning: options.onWarning }),
    });
  }

  /** Reads one object. */
  get<T extends KubeObject>(kind: KindRef<T>, key: ObjectKey, options: GetOptions = {}): Promise<T> {
    const { resourceVersion, subresource } = options;
    return this.#object(
      kind,
      { method: "GET", path: this.#path(kind, key, subresource) + encodeQuery({ resourceVersion }) },
      options,
    );
  }

  /** Reads objects: all of them, or one page if there is a limit. */
  async list<T extends KubeObject>(kind: KindRef<T>, options: ListOptions = {}): Promise<KubeList<T>> {
    const path = resourcePath(kind, { namespace: options.namespace }) + encodeQuery(listQuery(options));
    const list = await this.#caller.json<KubeList<T>>({ method: "GET", path, accept: acceptList(kind) }, options);
    return stampList(kind, list);
  }

  /** Creates an object; fails with AlreadyExists if there is one of that name. */
  create<T extends KubeObject>(
    kind: KindRef<T>,
    object: NoInfer<NewObject<T>>,
    options: WriteOptions = {},
  ): Promise<T> {
    const namespace = this.#namespaceOf(kind, object.metadata.namespace);
    const name = options.subresource ? object.metadata.name : undefined;
    const path = resourcePath(kind, { namespace, name, subresource: options.subresource });
    return this.#write("POST", kind, path, object, options);
  }

  /** Replaces an object. With a resourceVersion: only if nobody has written since. */
  update<T extends KubeObject>(kind: KindRef<T>, object: NoInfer<T>, options: WriteOptions = {}): Promise<T> {
    return this.#write("PUT", kind, this.#path(kind, keyOf(object), options.subresource), object, options);
  }

  /** Changes part of an object. */
  patch<T extends KubeObject>(
    kind: KindRef<T>,
    key: ObjectKey,
    patch: NoInfer<Patch<T>>,
    options: WriteOptions = {},
  ): Promise<T> {
    const path = this.#path(kind, key, options.subresource) + encodeQuery(writeQuery(options, this.fieldManager));
    return this.#object(kind, { method: "PATCH", path, ...encodePatch(patch as Patch<KubeObject>) }, options);
  }

  /**
   * Server-side apply: the object shall have these fields, owned by the field manager, and no longer those that the same
   * manager applied before and leaves out now. Creates the object if there is none.
   */
  apply<T extends KubeObject>(
    kind: KindRef<T>,
    object: NoInfer<AppliedObject<T>>,
    options: ApplyOptions = {},
  ): Promise<T> {
    const { metadata } = object;
    if (!metadata.name) throw new TypeError(`apply of ${kind.kind}: metadata.name is missing`);
    const key = keyOf({ metadata: { ...metadata, name: metadata.name } });
    const query = { ...writeQuery(options, this.fieldManager), force: options.force ? true : undefined };
    return this.#object(
      kind,
      {
        method: "PATCH",
        path: this.#path(kind, key, options.subresource) + encodeQuery(query),
        contentType: "application/apply-patch+yaml",
        body: named(kind, object),
      },
      options,
    );
  }

  /** As update, for the status only. */
  updateStatus<T extends KubeObject>(kind: KindRef<T>, object: NoInfer<T>, options: WriteOptions = {}): Promise<T> {
    return this.update(kind, object, { ...options, subresource: "status" });
  }

  /** As patch, for the status only. */
  patchStatus<T extends KubeObject>(
    kind: KindRef<T>,
    key: ObjectKey,
    patch: NoInfer<Patch<T>>,
    options: WriteOptions = {},
  ): Promise<T> {
    return this.patch(kind, key, patch, { ...options, subresource: "status" });
  }

  /** As apply, for the status only. */
  applyStatus<T extends KubeObject>(
    kind: KindRef<T>,
    object: NoInfer<AppliedObject<T>>,
    options: ApplyOptions = {},
  ): Promise<T> {
    return this.apply(kind, object, { ...options, subresource: "status" });
  }

  /**
   * Deletes an object. Resolves to its last state if the server tells it: with a deletionTimestamp it is still there,
   * until its finalizers and its grace period are done.
   */
  async delete<T extends KubeObject>(
    kind: KindRef<T>,
    key: ObjectKey,
    options: DeleteOptions = {},
  ): Promise<T | undefined> {
    const call = {
      method: "DELETE",
      path: this.#path(kind, key),
      accept: acceptObject(kind),
      body: deleteBody(options),
    };
    const answer = await this.#caller.json<T>(call, options);
    return answer.kind === "Status" ? undefined : stamp(kind, answer);
  }

  /** Deletes all objects that are selected. Of a namespaced kind, only within one namespace. */
  async deleteCollection<T extends KubeObject>(
    kind: KindRef<T>,
    options: DeleteOptions & Selection = {},
  ): Promise<void> {
    const { namespace } = options;
    if (kind.namespaced && !namespace) {
      throw new TypeError(`deleteCollection of ${kind.kind}: name a namespace, it cannot be done for all at once`);
    }
    const path = resourcePath(kind, { namespace }) + encodeQuery(selectionQuery(options));
    await this.#caller.text({ method: "DELETE", path, body: deleteBody(options) }, options);
  }

  /** All changes to the objects of a kind, see {@link Watch}. */
  watch<T extends KubeObject>(kind: KindRef<T>, options: WatchOptions = {}): Watch<T> {
    return new Watch(this.#caller, kind, options);
  }

  #write<T extends KubeObject>(
    method: string,
    kind: KindRef<T>,
    path: string,
    object: object,
    options: WriteOptions,
  ): Promise<T> {
    const query = encodeQuery(writeQuery(options, this.fieldManager));
    return this.#object(kind, { method, path: path + query, body: named(kind, object) }, options);
  }

  async #object<T extends KubeObject>(kind: KindRef<T>, call: Call, options: CallOptions): Promise<T> {
    return stamp(kind, await this.#caller.json<T>({ accept: acceptObject(kind), ...call }, options));
  }

  #path(kind: KindRef<KubeObject>, key: ObjectKey, subresource?: string): string {
    const { namespace, name } = splitKey(key);
    if (name === "") throw new TypeError(`${kind.kind}: the key ${JSON.stringify(key)} names no object`);
    return resourcePath(kind, { namespace: this.#namespaceOf(kind, namespace), name, subresource });
  }

  #namespaceOf(kind: KindRef<KubeObject>, namespace: string | undefined): string | undefined {
    if (kind.namespaced) return namespace || this.namespace;
    if (namespace) throw new TypeError(`${kind.kind} is cluster-scoped, but a namespace is given: ${namespace}`);
    return undefined;
  }
}

/** The object with the kind's apiVersion and kind; throws if it says it is something else. */
function named<T extends KubeObject>(kind: KindRef<T>, object: object): object {
  const expected = { apiVersion: apiVersionOf(kind), kind: kind.kind };
  const given = object as Partial<KubeObject>;
  if (given.apiVersion === expected.apiVersion && given.kind === expected.kind) return object;
  if (
    (given.apiVersion ?? expected.apiVersion) !== expected.apiVersion ||
    (given.kind ?? expected.kind) !== expected.kind
  ) {
    throw new TypeError(
      `expected an object of ${expected.apiVersion} ${expected.kind}, got ${given.apiVersion} ${given.kind}`,
    );
  }
  return { ...object, ...expected };
}
