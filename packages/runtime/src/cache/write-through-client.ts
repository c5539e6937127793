import {
  type AppliedObject,
  type ApplyOptions,
  Client,
  type DeleteOptions,
  type GetOptions,
  type ListOptions,
  type NewObject,
  type Patch,
  type Selection,
  type Watch,
  type WatchOptions,
  type WriteOptions,
} from "@konverge/client";
import type { KindRef, KubeList, KubeObject, ObjectKey } from "@konverge/core";
import type { Cache } from "./cache.ts";

/**
 * A client whose writes go into the cache as soon as they are answered, so that whoever reads the cache afterwards sees
 * them, however late the watch is.
 */
export class WriteThroughClient extends Client {
  readonly #inner: Client;
  readonly #cache: Cache;
  readonly #writer: string;

  constructor(inner: Client, cache: Cache, writer: string) {
    super(() => Promise.reject(new Error("every verb goes to the inner client")), {
      clock: inner.clock,
      namespace: inner.namespace,
      fieldManager: writer,
    });
    this.#inner = inner;
    this.#cache = cache;
    this.#writer = writer;
  }

  override get<T extends KubeObject>(kind: KindRef<T>, key: ObjectKey, options?: GetOptions): Promise<T> {
    return this.#inner.get(kind, key, options);
  }

  override list<T extends KubeObject>(kind: KindRef<T>, options?: ListOptions): Promise<KubeList<T>> {
    return this.#inner.list(kind, options);
  }

  override watch<T extends KubeObject>(kind: KindRef<T>, options?: WatchOptions): Watch<T> {
    return this.#inner.watch(kind, options);
  }

  override create<T extends KubeObject>(
    kind: KindRef<T>,
    object: NoInfer<NewObject<T>>,
    options?: WriteOptions,
  ): Promise<T> {
    return this.#noted(kind, this.#inner.create(kind, object, this.#owned(options)), options);
  }

  override update<T extends KubeObject>(kind: KindRef<T>, object: NoInfer<T>, options?: WriteOptions): Promise<T> {
    return this.#noted(kind, this.#inner.update(kind, object, this.#owned(options)), options);
  }

  override patch<T extends KubeObject>(
    kind: KindRef<T>,
    key: ObjectKey,
    patch: NoInfer<Patch<T>>,
    options?: WriteOptions,
  ): Promise<T> {
    return this.#noted(kind, this.#inner.patch(kind, key, patch, this.#owned(options)), options);
  }

  override apply<T extends KubeObject>(
    kind: KindRef<T>,
    object: NoInfer<AppliedObject<T>>,
    options?: ApplyOptions,
  ): Promise<T> {
    return this.#noted(kind, this.#inner.apply(kind, object, this.#owned(options)), options);
  }

  override async delete<T extends KubeObject>(
    kind: KindRef<T>,
    key: ObjectKey,
    options: DeleteOptions = {},
  ): Promise<T | undefined> {
    const last = await this.#inner.delete(kind, key, options);
    if (options.dryRun) return last;
    if (last && remains(last)) this.#cache.wrote(kind as unknown as KindRef<KubeObject>, last, this.#writer);
    else {
      const uid = options.preconditions?.uid ?? last?.metadata.uid;
      if (uid) this.#cache.deleted(kind as unknown as KindRef<KubeObject>, this.#full(kind, key), uid, this.#writer);
    }
    return last;
  }

  override deleteCollection<T extends KubeObject>(
    kind: KindRef<T>,
    options?: DeleteOptions & Selection,
  ): Promise<void> {
    return this.#inner.deleteCollection(kind, options);
  }

  #owned<O extends WriteOptions>(options: O | undefined): O {
    return { fieldManager: this.#writer, ...options } as O;
  }

  async #noted<T extends KubeObject>(kind: KindRef<T>, write: Promise<T>, options?: WriteOptions): Promise<T> {
    const object = await write;
    const whole = options?.subresource === undefined || options.subresource === "status";
    if (whole && !options?.dryRun) this.#cache.wrote(kind as unknown as KindRef<KubeObject>, object, this.#writer);
    return object;
  }

  #full(kind: KindRef<KubeObject>, key: ObjectKey): ObjectKey {
    return kind.namespaced && !key.includes("/") ? `${this.namespace}/${key}` : key;
  }
}

/** A deleted object is still there while finalizers or a grace period hold it. */
function remains({ metadata }: KubeObject): boolean {
  if (!metadata.deletionTimestamp) return false;
  return (metadata.finalizers?.length ?? 0) > 0 || (metadata.deletionGracePeriodSeconds ?? 0) > 0;
}
