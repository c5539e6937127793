import type { Client } from "@konverge/client";
import {
  type AnyObject,
  type Clock,
  type Condition,
  isNotFound,
  type KindRef,
  type KubeObject,
  keyOf,
  type Schema,
  timestamp,
} from "@konverge/core";
import type { Informer } from "../cache/informer.ts";
import { type Conditions, stampConditions } from "../controller/conditions.ts";
import { isApplied } from "./is-applied.ts";

/** What a reconcile has to say about its object. */
export interface StatusStatement {
  status?: object;
  conditions?: Conditions;
}

/**
 * Writes what a reconcile says about its object: by server-side apply, once, and only if it differs from what is there.
 */
export class StatusWriter {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #manager: string;
  readonly #informer: Informer<KubeObject>;
  readonly #withGeneration: boolean;

  constructor(options: { client: Client; clock: Clock; manager: string; informer: Informer<KubeObject> }) {
    this.#client = options.client;
    this.#clock = options.clock;
    this.#manager = options.manager;
    this.#informer = options.informer;
    this.#withGeneration = hasObservedGeneration(options.informer.kind);
  }

  async write(object: KubeObject, statement: StatusStatement, signal: AbortSignal): Promise<void> {
    const { kind } = this.#informer;
    const key = keyOf(object);
    const live = this.#informer.get(key);
    // Another object of that name has nothing to do with this statement.
    if (!live || live.metadata.uid !== object.metadata.uid) return;
    const status = this.#statusOf(object, live, statement);
    const fields = this.#informer.ownFields(key, this.#manager)?.status;
    if (fields && isApplied(fields, { status }, live)) return;
    const { name, namespace, uid } = object.metadata;
    try {
      await this.#client.applyStatus(
        kind as KindRef<AnyObject>,
        { metadata: { name, ...(namespace && { namespace }), uid }, status },
        { fieldManager: this.#manager, force: true, signal },
      );
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  #statusOf(object: KubeObject, live: KubeObject, statement: StatusStatement): object {
    const { generation } = object.metadata;
    const current = (live as { status?: { conditions?: Condition[] } }).status?.conditions ?? [];
    const conditions = stampConditions(statement.conditions ?? {}, current, {
      generation,
      time: timestamp(this.#clock),
    });
    return {
      ...(this.#withGeneration && generation !== undefined && { observedGeneration: generation }),
      ...statement.status,
      ...(conditions.length > 0 && { conditions }),
    };
  }
}

/** Kinds made by defineKind carry their schema; of others it is not known whether the field exists. */
function hasObservedGeneration(kind: KindRef<KubeObject>): boolean {
  const { schema } = kind as { schema?: Schema };
  return schema?.properties?.status?.properties?.observedGeneration !== undefined;
}
