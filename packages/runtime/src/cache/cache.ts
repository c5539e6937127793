import type { Client } from "@konverge/client";
import type { KindRef, KubeObject, ObjectKey } from "@konverge/core";
import { Informer, type InformerOptions, type Scope } from "./informer.ts";

interface Shared {
  readonly informer: Informer<KubeObject>;
  readonly scope: Scope;
  users: number;
}

/** An informer in use. It stops when all who use it have released it. */
export interface Lease<T extends KubeObject> {
  readonly informer: Informer<T>;
  release(): void;
}

/**
 * The informers of one cluster, one for each kind and scope, shared by all who declare the same. Nothing is watched that
 * nobody has declared: a read never starts a watch.
 */
export class Cache {
  readonly #client: Client;
  readonly #managers = new Set<string>();
  readonly #shared = new Map<string, Shared>();

  constructor(client: Client) {
    this.#client = client;
  }

  /** A field manager of ours: what it applied is remembered for each object. Must be known before the watches start. */
  addManager(name: string): void {
    this.#managers.add(name);
  }

  /** Declares use of a kind. The watch begins with {@link start}. */
  use<T extends KubeObject>(kind: KindRef<T>, scope: Scope & Pick<InformerOptions<T>, "managedFields"> = {}): Lease<T> {
    const id = JSON.stringify([kind.group, kind.version, kind.plural, scope]);
    let shared = this.#shared.get(id);
    if (!shared) {
      const informer = new Informer<T>(this.#client, kind, { ...scope, managers: this.#managers });
      shared = { informer: informer as unknown as Informer<KubeObject>, scope, users: 0 };
      this.#shared.set(id, shared);
    }
    const mine = shared;
    mine.users++;
    let released = false;
    return {
      informer: mine.informer as unknown as Informer<T>,
      release: () => {
        if (released) return;
        released = true;
        if (--mine.users > 0) return;
        mine.informer.stop();
        this.#shared.delete(id);
      },
    };
  }

  start(): void {
    for (const { informer } of this.#shared.values()) informer.start();
  }

  /** All informers, for metrics and readiness. */
  *informers(): IterableIterator<Informer<KubeObject>> {
    for (const { informer } of this.#shared.values()) yield informer;
  }

  /** Notes the answer to a write of ours in every informer that may hold the object. */
  wrote(kind: KindRef<KubeObject>, object: KubeObject, writer: string): void {
    for (const informer of this.#holding(kind, object.metadata.namespace)) informer.wrote(object, writer);
  }

  /** Notes a deletion of ours that the server has carried out. */
  deleted(kind: KindRef<KubeObject>, key: ObjectKey, uid: string, writer: string): void {
    const namespace = key.includes("/") ? key.slice(0, key.indexOf("/")) : undefined;
    for (const informer of this.#holding(kind, namespace)) informer.deleted(key, uid, writer);
  }

  *#holding(kind: KindRef<KubeObject>, namespace: string | undefined): IterableIterator<Informer<KubeObject>> {
    for (const { informer, scope } of this.#shared.values()) {
      if (informer.kind.plural !== kind.plural || informer.kind.group !== kind.group) continue;
      if (informer.kind.version !== kind.version) continue;
      if (scope.namespace === undefined || scope.namespace === namespace) yield informer;
    }
  }
}
