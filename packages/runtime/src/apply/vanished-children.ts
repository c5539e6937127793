import { type KubeObject, keyOf } from "@konverge/core";
import type { CacheView } from "../cache/view.ts";
import type { Bond } from "./bond.ts";

/** The owner is being deleted, or no longer exists: it gets no children any more. */
export class OwnerGoneError extends Error {
  override readonly name = "OwnerGoneError";
}

/** A declared kind of children, and how a child refers to its owner. */
interface ViewOfChildren {
  readonly view: CacheView<KubeObject>;
  readonly bond: Bond;
}

/**
 * The owners that have lost a child which this controller did not delete.
 *
 * Either another client deleted the child, or the garbage collector did because the owner is gone and the owner's watch is
 * late. The cache cannot tell these apart, so the first creation after such a loss reads the owner past it. Otherwise a
 * late watch would let the controller and the garbage collector undo each other's work until it has caught up.
 */
export class VanishedChildren {
  /** By uid; the value is the read in progress. */
  readonly #owners = new Map<string, Promise<void> | undefined>();

  /** `manager`: the controller, whose own deletions raise no question. */
  constructor(manager: string, owners: CacheView<KubeObject>, owned: readonly ViewOfChildren[]) {
    for (const { view, bond } of owned) {
      view.subscribe(({ type, object, writer }) => {
        if (type !== "deleted" || writer === manager) return;
        const [uid, key] = [bond.ownerUid(object), bond.ownerKey(object)];
        if (uid !== undefined && key !== undefined && owners.get(key)?.metadata.uid === uid) {
          this.#owners.set(uid, undefined);
        }
      });
    }
    owners.subscribe(({ type, object }) => {
      if (type === "deleted") this.#owners.delete(object.metadata.uid!);
    });
  }

  /** Throws unless the owner still exists. Reads it, by `get`, at most once for all children that have vanished since. */
  async checkOwner(owner: KubeObject, get: () => Promise<KubeObject | undefined>): Promise<void> {
    const uid = owner.metadata.uid!;
    if (!this.#owners.has(uid)) return;
    const reading = this.#owners.get(uid) ?? this.#check(owner, get);
    this.#owners.set(uid, reading);
    try {
      await reading;
    } finally {
      // What has vanished in the meantime asks again.
      if (this.#owners.get(uid) === reading) this.#owners.delete(uid);
    }
  }

  async #check(owner: KubeObject, get: () => Promise<KubeObject | undefined>): Promise<void> {
    const current = await get();
    if (current && current.metadata.uid === owner.metadata.uid && !current.metadata.deletionTimestamp) return;
    throw new OwnerGoneError(`${keyOf(owner)} is being deleted, or no longer exists`);
  }
}
