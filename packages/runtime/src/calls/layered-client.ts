import {
  type AppliedObject,
  type ApplyOptions,
  type AttachOptions,
  type CallOptions,
  type Client,
  type ClientRequest,
  type DeleteOptions,
  type GetOptions,
  type ImpersonatedUser,
  type ListOptions,
  type NewObject,
  type ObjectArguments,
  type ObjectSelection,
  objectArguments,
  type Patch,
  type PortForward,
  type RemoteProcess,
  type Scale,
  type ServiceAccountToken,
  type ServiceAccountTokenOptions,
  type WriteOptions,
} from "@konverge/client";
import { type KindRef, type KubeList, type KubeObject, keyOf, type ObjectKey, stringifyJson } from "@konverge/core";
import { Pod, ServiceAccount } from "@konverge/kinds";
import type { LayeredCall } from "./layered-call.ts";
import { objectIn, rawCall } from "./raw-call.ts";

/** Carries a call out by `send`, under the limits that it hands to it. */
export type Layer = <R>(call: LayeredCall, send: (limits: CallOptions) => Promise<R>) => Promise<R>;

/**
 * The same client, except that the verbs which read and write objects go through a layer, and that what they write
 * belongs to `fieldManager`. It fails closed: of other members, only those in {@link OTHERS} can be used.
 */
export function layeredClient(inner: Client, layer: Layer, fieldManager: string): Client {
  const verbs = new LayeredVerbs(inner, layer, fieldManager);
  return new Proxy(inner, {
    get(target, name, layered) {
      if (name in verbs) return bound(verbs, name, verbs);
      if (name in target && !(name in OTHERS)) {
        throw new TypeError(`client.${String(name)} cannot be used here: it is not held to the reconcile's permit`);
      }
      return bound(target, name, Reflect.get(OTHERS, name) === "composed" ? layered : target);
    },
  });
}

function bound(from: object, name: PropertyKey, self: object): unknown {
  const value: unknown = Reflect.get(from, name, from);
  return typeof value === "function" ? value.bind(self) : value;
}

/**
 * What changes no object, and what is composed of layered verbs. A new verb of the client has to be added here or
 * layered, or this does not compile.
 */
const OTHERS: Readonly<Record<Exclude<keyof Client, keyof LayeredVerbs>, "harmless" | "composed">> = {
  namespace: "harmless",
  clock: "harmless",
  dryRun: "harmless",
  mapper: "harmless",
  each: "composed",
  table: "harmless",
  watch: "harmless",
  getScale: "harmless",
  logs: "harmless",
  canI: "harmless",
  rulesIn: "harmless",
  whoAmI: "harmless",
  reviewToken: "harmless",
  version: "harmless",
  updateStatus: "composed",
  patchStatus: "composed",
  applyStatus: "composed",
  close: "harmless",
  [Symbol.asyncDispose]: "harmless",
};

class LayeredVerbs {
  readonly fieldManager: string;
  readonly #inner: Client;
  readonly #layer: Layer;

  constructor(inner: Client, layer: Layer, fieldManager: string) {
    this.#inner = inner;
    this.#layer = layer;
    this.fieldManager = fieldManager;
  }

  get<T extends KubeObject>(kind: KindRef<T>, key: ObjectKey, options: GetOptions = {}): Promise<T> {
    const call = { verb: "get", kind, key: this.#key(kind, key), subresource: options.subresource, options } as const;
    return this.#layer(call, (limits) => this.#inner.get(kind, key, { ...options, ...limits }));
  }

  list<T extends KubeObject>(kind: KindRef<T>, options: ListOptions = {}): Promise<KubeList<T>> {
    const call = { verb: "list", kind, namespace: options.namespace, options } as const;
    return this.#layer(call, (limits) => this.#inner.list(kind, { ...options, ...limits }));
  }

  create(...args: ObjectArguments<NewObject<KubeObject>, WriteOptions>): Promise<KubeObject> {
    const { kind, object, options: given = {} } = objectArguments("create", args);
    const options = this.#owned(given);
    const { name, namespace = this.#inner.namespace } = object.metadata;
    const place = { namespace: kind.namespaced ? namespace : undefined, subresource: options.subresource };
    const key = name && keyOf({ metadata: { name, namespace: place.namespace } });
    const call = { verb: "create", kind, ...(key && { key }), ...place, body: object, options } as const;
    return this.#layer(call, (limits) => this.#inner.create(kind, object, { ...options, ...limits }));
  }

  update<T extends KubeObject>(kind: KindRef<T>, object: T, given: WriteOptions = {}): Promise<T> {
    const options = this.#owned(given);
    const call = { verb: "update", ...this.#target(kind, keyOf(object), options), body: object, options } as const;
    return this.#layer(call, (limits) => this.#inner.update(kind, object, { ...options, ...limits }));
  }

  patch<T extends KubeObject>(kind: KindRef<T>, key: ObjectKey, patch: Patch<T>, given: WriteOptions = {}): Promise<T> {
    const options = this.#owned(given);
    const call = { verb: "patch", ...this.#target(kind, key, options), body: patch, options } as const;
    return this.#layer(call, (limits) => this.#inner.patch(kind, key, patch, { ...options, ...limits }));
  }

  apply(...args: ObjectArguments<AppliedObject<KubeObject>, ApplyOptions>): Promise<KubeObject> {
    const { kind, object, options: given = {} } = objectArguments("apply", args);
    const options = this.#owned(given);
    const key = keyOf({ metadata: { ...object.metadata, name: object.metadata.name ?? "" } });
    const call = { verb: "apply", ...this.#target(kind, key, options), body: object, options } as const;
    return this.#layer(call, (limits) => this.#inner.apply(kind, object, { ...options, ...limits }));
  }

  delete<T extends KubeObject>(kind: KindRef<T>, key: ObjectKey, options: DeleteOptions = {}): Promise<T | undefined> {
    const call = { verb: "delete", kind, key: this.#key(kind, key), options } as const;
    return this.#layer(call, (limits) => this.#inner.delete(kind, key, { ...options, ...limits }));
  }

  async scale(kind: KindRef<KubeObject>, key: ObjectKey, replicas: number, given: WriteOptions = {}): Promise<Scale> {
    const options = this.#owned(given);
    const target = this.#target(kind, key, { subresource: "scale" });
    const call = { verb: "patch", ...target, body: { spec: { replicas } }, options } as const;
    return this.#layer(call, (limits) => this.#inner.scale(kind, key, replicas, { ...options, ...limits }));
  }

  async evict(key: ObjectKey, options: DeleteOptions = {}): Promise<void> {
    const call = { verb: "create", ...this.#target(Pod, key, { subresource: "eviction" }), options } as const;
    return this.#layer(call, (limits) => this.#inner.evict(key, { ...options, ...limits }));
  }

  /** As another user, through the same layer. */
  as(identity: ImpersonatedUser): Client {
    return layeredClient(this.#inner.as(identity), this.#layer, this.fieldManager);
  }

  deleteCollection<T extends KubeObject>(
    kind: KindRef<T>,
    options: DeleteOptions & ObjectSelection = {},
  ): Promise<void> {
    const call = { verb: "deletecollection", kind, namespace: options.namespace, options } as const;
    return this.#layer(call, (limits) => this.#inner.deleteCollection(kind, { ...options, ...limits }));
  }

  exec(key: ObjectKey, command: readonly string[], options: AttachOptions = {}): Promise<RemoteProcess> {
    const call = this.#stream(key, "exec", options);
    return this.#layer(call, (limits) => this.#inner.exec(key, command, { ...options, ...limits }));
  }

  attach(key: ObjectKey, options: AttachOptions = {}): Promise<RemoteProcess> {
    const call = this.#stream(key, "attach", options);
    return this.#layer(call, (limits) => this.#inner.attach(key, { ...options, ...limits }));
  }

  portForward(key: ObjectKey, options: CallOptions = {}): Promise<PortForward> {
    const call = this.#stream(key, "portforward", options);
    return this.#layer(call, (limits) => this.#inner.portForward(key, { ...options, ...limits }));
  }

  requestToken(serviceAccount: ObjectKey, options: ServiceAccountTokenOptions = {}): Promise<ServiceAccountToken> {
    const target = this.#target(ServiceAccount, serviceAccount, { subresource: "token" });
    const call = { verb: "create", ...target, options } as const;
    return this.#layer(call, (limits) => this.#inner.requestToken(serviceAccount, { ...options, ...limits }));
  }

  async request(call: ClientRequest, options: CallOptions = {}): Promise<string> {
    let text: string | undefined;
    const answer = await this.#layer(rawCall(call, options), async (limits) => {
      text = await this.#inner.request(call, { ...options, ...limits });
      return objectIn(text);
    });
    // A layer may answer by itself.
    return text ?? stringifyJson(answer ?? {});
  }

  #stream(key: ObjectKey, subresource: string, options: CallOptions) {
    return { verb: "create", ...this.#target(Pod, key, { subresource }), options } as const;
  }

  #owned<O extends WriteOptions>(options: O): O {
    return { ...options, fieldManager: options.fieldManager ?? this.fieldManager };
  }

  #target(kind: KindRef<KubeObject>, key: ObjectKey, { subresource }: WriteOptions) {
    return { kind, key: this.#key(kind, key), ...(subresource && { subresource }) };
  }

  /** The whole key, with the namespace that the inner client would fill in. */
  #key(kind: KindRef<KubeObject>, key: ObjectKey): ObjectKey {
    return kind.namespaced && !key.includes("/") ? `${this.#inner.namespace}/${key}` : key;
  }
}
