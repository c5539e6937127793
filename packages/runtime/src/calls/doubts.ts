import type { Client } from "@konverge/client";
import { isNotFound, type KindRef, type KubeObject, type ObjectKey } from "@konverge/core";
import type { Cache } from "../cache/cache.ts";

/** A write with an unknown outcome. */
interface Doubt {
  readonly kind: KindRef<KubeObject>;
  /** Absent if the server was to choose the name. */
  readonly key?: ObjectKey | undefined;
  readonly namespace?: string | undefined;
}

/**
 * Writes with an unknown outcome, by the key whose reconcile made them. Before that key is reconciled again, their objects are
 * read past the cache, which may be from before a write that did happen.
 */
export class Doubts {
  readonly #doubts = new Map<ObjectKey, Map<string, Doubt>>();

  add(owner: ObjectKey, { kind, key, namespace }: Doubt): void {
    let mine = this.#doubts.get(owner);
    if (!mine) {
      mine = new Map();
      this.#doubts.set(owner, mine);
    }
    mine.set(`${kind.group}/${kind.plural} ${key ?? `in ${namespace}`}`, { kind, key, namespace });
  }

  /** Reads the objects of these writes by a client that updates the cache. Throws if it cannot: then the key must wait. */
  async settle(owner: ObjectKey, client: Client, cache: Cache): Promise<void> {
    const mine = this.#doubts.get(owner);
    if (!mine) return;
    for (const [name, doubt] of mine) {
      await settle(doubt, client, cache);
      mine.delete(name);
    }
    if (mine.size === 0) this.#doubts.delete(owner);
  }

  forget(owner: ObjectKey): void {
    this.#doubts.delete(owner);
  }
}

async function settle({ kind, key, namespace }: Doubt, client: Client, cache: Cache): Promise<void> {
  if (key === undefined) {
    const { items } = await client.list(kind, { namespace });
    for (const object of items) cache.saw(kind, object, undefined);
    return;
  }
  try {
    await client.get(kind, key);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
