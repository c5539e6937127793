import { groupKindText, isForbidden, isNotFound, type KubeObject, keyOf, type ObjectKey } from "@konverge/core";
import { ExternalError } from "../errors.ts";
import { nameOf } from "./child.ts";
import { BY_OWNER, type ChildrenScope, type OwnedView } from "./owned-view.ts";
import { type Doomed, nextToGo } from "./removal-order.ts";

/** Milliseconds until what a tenant is not allowed to do is tried again. */
const REFUSED_RETRY = 30_000;

export interface ExistingChild extends Doomed {
  readonly owned: OwnedView;
}

/** Finds and deletes children. */
export class ChildRemoval {
  readonly #owned: readonly OwnedView[];
  readonly #removed: (name: string) => void;

  /** `removed` is called with the name of each child that is deleted. */
  constructor(owned: readonly OwnedView[], removed: (name: string) => void) {
    this.#owned = owned;
    this.#removed = removed;
  }

  /** The children there are, of all kinds; of those that are not meant nothing is read. */
  existing(
    owner: KubeObject,
    isMeant: (owned: OwnedView, key: ObjectKey) => boolean = () => true,
  ): readonly ExistingChild[] {
    const existing: ExistingChild[] = [];
    for (const owned of this.#owned) {
      const keys = [...owned.view.find(BY_OWNER, owner.metadata.uid!)].filter((key) => isMeant(owned, key)).sort();
      for (const key of keys) {
        const object = owned.view.get(key)!;
        existing.push({ owned, object, name: nameOf(object, owner) });
      }
    }
    return existing;
  }

  /** Deletes those children whose turn it is, and returns them. The others follow when these are gone, of which there is an event. */
  async remove(doomed: readonly ExistingChild[], pass: ChildrenScope): Promise<readonly KubeObject[]> {
    const removed: KubeObject[] = [];
    for (const { doomed: one, awaited } of nextToGo(doomed)) {
      // What others wait for is gone only when all that it owns is.
      const isForeground = awaited || one.owned.declared.deletion === "foreground";
      await this.delete(one.owned, one.object, pass, isForeground ? "Foreground" : "Background");
      this.#removed(one.name);
      removed.push(one.object);
    }
    return removed;
  }

  /**
   * Deletes exactly this object in this state: a client that has changed it since may have had a reason. Of a create-only
   * child the content does not matter.
   */
  async delete(
    { declared }: OwnedView,
    { metadata, ...child }: KubeObject,
    pass: ChildrenScope,
    propagationPolicy: "Background" | "Foreground" | "Orphan",
  ): Promise<void> {
    const { uid, resourceVersion } = metadata;
    const key = keyOf({ ...child, metadata });
    const preconditions = declared.createOnly ? { uid: uid! } : { uid: uid!, resourceVersion: resourceVersion! };
    try {
      await pass.writer.delete(declared.kind, key, { preconditions, propagationPolicy });
    } catch (error) {
      if (!isNotFound(error)) throw refusal(error, `${groupKindText(declared.kind)} ${key}`, pass);
    }
  }
}

/** A tenant's missing permission is the tenant's to get, at any time, and no event reports it. */
export function refusal(error: unknown, name: string, { tenant }: ChildrenScope): unknown {
  if (tenant === undefined || !isForbidden(error)) return error;
  const message = `${name} cannot be written as ${tenant}: ${(error as Error).message}. Allow it to ${tenant}`;
  return new ExternalError("Forbidden", message, { cause: error, requeueAfter: REFUSED_RETRY });
}
