import type { ApiError } from "@konverge/core";
import {
  type Clock,
  isResourceExpired,
  type KindRef,
  type KubeList,
  type KubeObject,
  keyOf,
  type MadeByKind,
  type ObjectKey,
  resourcePath,
  splitKey,
} from "@konverge/core";
import type { Caller, ClientRequest } from "./call.ts";
import { type AppliedObject, type NewObject, named, type ObjectArguments, objectArguments } from "./new-object.ts";
import {
  type ApplyOptions,
  type CallOptions,
  type DeleteOptions,
  deleteBody,
  encodeQuery,
  type GetOptions,
  type ListOptions,
  listQuery,
  type ObjectSelection,
  selectionQuery,
  type WriteOptions,
  writeQuery,
} from "./options.ts";
import { encodePatch, type Patch } from "./patch.ts";
import {
  acceptList,
  acceptObject,
  acceptTable,
  stamp,
  stampList,
  type Table,
  type TableOptions,
} from "./representation.ts";
import { Watch, type WatchOptions } from "./watch/watch.ts";

/** What an ObjectVerbs needs to know about its client. */
export interface VerbContext {
  caller: Caller;
  /** The namespace of keys without one. */
  namespace: string;
  /** Owns the fields that are written. */
  fieldManager: string;
}

/** Objects per page when all are read one after the other. */
const PAGE_SIZE = 500;

/** The verbs that every kind has. Use them through {@link Client}. */
export class ObjectVerbs {
  /** The namespace of keys without one. */
  readonly namespace: string;
  readonly fieldManager: string;
  protected readonly caller: Caller;

  constructor({ caller, namespace, fieldManager }: VerbContext) {
    this.caller = caller;
    this.namespace = namespace;
    this.fieldManager = fieldManager;
  }

  /** The clock of deadlines, delays and timers. */
  get clock(): Clock {
    return this.caller.clock;
  }

  /** Reads one object. */
  async get<T extends KubeObject>(kind: KindRef<T>, key: ObjectKey, options: GetOptions = {}): Promise<T> {
    const { resourceVersion, subresource } = options;
    const path = this.pathOf(kind, key, subresource) + encodeQuery({ resourceVersion });
    return this.#object(kind, { method: "GET", path }, options);
  }

  /** Reads objects in one request: all of them, or one page if there is a limit. */
  async list<T extends KubeObject>(kind: KindRef<T>, options: ListOptions = {}): Promise<KubeList<T>> {
    const path = resourcePath(kind, options) + encodeQuery(listQuery(options));
    const list = await this.caller.json<KubeList<T>>({ method: "GET", path, accept: acceptList(kind) }, options);
    return stampList(kind, list);
  }

  /**
   * Reads all objects, page by page, so that only one page is in memory.
   *
   * All pages show the same state, unless reading them takes minutes and that state expires: the rest then shows a
   * later one. No object is returned twice.
   */
  async *each<T extends KubeObject>(kind: KindRef<T>, options: ListOptions = {}): AsyncGenerator<T, void, void> {
    const { resourceVersion, resourceVersionMatch, continue: start, limit = PAGE_SIZE, ...rest } = options;
    let next = start;
    do {
      // A token contains the version that it continues.
      const version = next ? {} : { resourceVersion, resourceVersionMatch };
      const page = { ...rest, ...version, limit, continue: next };
      // A server that has forgotten the moment offers a token to go on in the present.
      const list = await this.list(kind, page).catch((error: unknown) => {
        const token = isResourceExpired(error) ? (error as ApiError).status.metadata.continue : undefined;
        if (!token) throw error;
        return this.list(kind, { ...page, continue: token });
      });
      yield* list.items;
      next = list.metadata.continue || undefined;
    } while (next);
  }

  /** Reads objects as a table, as the server prints them. With a name, only that object. */
  async table(kind: KindRef<KubeObject>, options: ListOptions & TableOptions = {}): Promise<Table> {
    const { name, includeObject } = options;
    const path = resourcePath(kind, { namespace: options.namespace, name });
    const query = encodeQuery({ ...listQuery(options), includeObject });
    return this.caller.json<Table>({ method: "GET", path: path + query, accept: acceptTable }, options);
  }

  /**
   * Creates an object; fails with AlreadyExists if one with that name exists. What a kind's `new` or `draft` returns
   * needs no kind before it: `client.create(Website.new({ … }))`.
   */
  create<T extends KubeObject>(object: MadeByKind<T>, options?: WriteOptions): Promise<T>;
  create<T extends KubeObject>(kind: KindRef<T>, object: NoInfer<NewObject<T>>, options?: WriteOptions): Promise<T>;
  async create(...given: ObjectArguments<NewObject<KubeObject>, WriteOptions>): Promise<KubeObject> {
    const { kind, object, options = {} } = objectArguments("create", given);
    const { subresource } = options;
    const namespace = this.#namespaceOf(kind, object.metadata?.namespace);
    const path = resourcePath(kind, { namespace, name: subresource && object.metadata?.name, subresource });
    return this.#write("POST", kind, path, object, options);
  }

  /** Replaces an object. If it has a resourceVersion, fails with a conflict if the object has changed since. */
  async update<T extends KubeObject>(kind: KindRef<T>, object: NoInfer<T>, options: WriteOptions = {}): Promise<T> {
    return this.#write("PUT", kind, this.pathOf(kind, keyOf(object), options.subresource), object, options);
  }

  /** Changes part of an object. */
  async patch<T extends KubeObject>(
    kind: KindRef<T>,
    key: ObjectKey,
    patch: NoInfer<Patch<T>>,
    options: WriteOptions = {},
  ): Promise<T> {
    const path = this.pathOf(kind, key, options.subresource) + encodeQuery(writeQuery(options, this.fieldManager));
    return this.#object(kind, { method: "PATCH", path, ...encodePatch(patch as Patch<KubeObject>) }, options);
  }

  /**
   * Server-side apply: sets these fields, owned by the field manager, and removes those that the same manager applied
   * before and now omits. Creates the object if it does not exist. As in `create`, what a kind's `draft` returns needs
   * no kind before it.
   */
  apply<T extends KubeObject>(object: MadeByKind<T>, options?: ApplyOptions): Promise<T>;
  apply<T extends KubeObject>(kind: KindRef<T>, object: NoInfer<AppliedObject<T>>, options?: ApplyOptions): Promise<T>;
  async apply(...given: ObjectArguments<AppliedObject<KubeObject>, ApplyOptions>): Promise<KubeObject> {
    const { kind, object, options = {} } = objectArguments("apply", given);
    const { name, namespace } = object.metadata;
    if (!name) throw new TypeError(`apply of ${kind.kind}: metadata.name is missing`);
    const query = { ...writeQuery(options, this.fieldManager), force: options.force || undefined };
    const path = this.pathOf(kind, keyOf({ metadata: { name, namespace } }), options.subresource) + encodeQuery(query);
    const call = { method: "PATCH", path, contentType: "application/apply-patch+yaml", body: named(kind, object) };
    return this.#object(kind, call, options);
  }

  /** As update, for the status only. */
  async updateStatus<T extends KubeObject>(
    kind: KindRef<T>,
    object: NoInfer<T>,
    options: WriteOptions = {},
  ): Promise<T> {
    return this.update(kind, object, { ...options, subresource: "status" });
  }

  /** As patch, for the status only. */
  async patchStatus<T extends KubeObject>(
    kind: KindRef<T>,
    key: ObjectKey,
    patch: NoInfer<Patch<T>>,
    options: WriteOptions = {},
  ): Promise<T> {
    return this.patch(kind, key, patch, { ...options, subresource: "status" });
  }

  /** As apply, for the status only. */
  async applyStatus<T extends KubeObject>(
    kind: KindRef<T>,
    object: NoInfer<AppliedObject<T>>,
    options: ApplyOptions = {},
  ): Promise<T> {
    return this.apply(kind, object, { ...options, subresource: "status" });
  }

  /**
   * Deletes an object. Resolves to its last state if the server returns it. An object with a deletionTimestamp still
   * exists until its finalizers are removed and its grace period has ended.
   */
  async delete<T extends KubeObject>(
    kind: KindRef<T>,
    key: ObjectKey,
    options: DeleteOptions = {},
  ): Promise<T | undefined> {
    const path = this.pathOf(kind, key);
    const call = { method: "DELETE", path, accept: acceptObject(kind), body: deleteBody(options) };
    const answer = await this.caller.json<T>(call, options);
    return answer.kind === "Status" ? undefined : stamp(kind, answer);
  }

  /** Deletes all selected objects; for a namespaced kind, within one namespace. */
  async deleteCollection<T extends KubeObject>(
    kind: KindRef<T>,
    options: DeleteOptions & ObjectSelection = {},
  ): Promise<void> {
    const { namespace } = options;
    if (kind.namespaced && !namespace) {
      throw new TypeError(`deleteCollection of ${kind.kind}: a namespace is required`);
    }
    const path = resourcePath(kind, { namespace }) + encodeQuery(selectionQuery(options));
    await this.caller.text({ method: "DELETE", path, body: deleteBody(options) }, options);
  }

  /** All changes to the objects of a kind, see {@link Watch}. */
  watch<T extends KubeObject>(kind: KindRef<T>, options: WatchOptions = {}): Watch<T> {
    return new Watch(this.caller, kind, options);
  }

  /** The path of an object. */
  protected pathOf(kind: KindRef<KubeObject>, key: ObjectKey, subresource?: string): string {
    return resourcePath(kind, { ...this.placeOf(kind, key), subresource });
  }

  /** The name that a key stands for, with its namespace if the kind has one. */
  protected placeOf(kind: KindRef<KubeObject>, key: ObjectKey): { namespace?: string; name: string } {
    const { namespace, name } = splitKey(key);
    if (!name) throw new TypeError(`${kind.kind}: the key ${JSON.stringify(key)} names no object`);
    const inNamespace = this.#namespaceOf(kind, namespace);
    return { ...(inNamespace && { namespace: inNamespace }), name };
  }

  async #write<T extends KubeObject>(
    method: string,
    kind: KindRef<T>,
    path: string,
    object: object,
    options: WriteOptions,
  ): Promise<T> {
    const query = encodeQuery(writeQuery(options, this.fieldManager));
    return this.#object(kind, { method, path: path + query, body: named(kind, object) }, options);
  }

  async #object<T extends KubeObject>(kind: KindRef<T>, call: ClientRequest, options: CallOptions): Promise<T> {
    return stamp(kind, await this.caller.json<T>({ accept: acceptObject(kind), ...call }, options));
  }

  #namespaceOf(kind: KindRef<KubeObject>, namespace: string | undefined): string | undefined {
    if (kind.namespaced) return namespace || this.namespace;
    if (namespace) throw new TypeError(`${kind.kind} is cluster-scoped, but a namespace is given: ${namespace}`);
    return undefined;
  }
}
