import type { Client } from "@konverge/client";
import { generateName, isNotFound, type KubeObject, type ObjectKey, type Random } from "@konverge/core";
import { ExternalError } from "../errors.ts";
import type { Bond } from "./bond.ts";
import type { Child, OwnedKind, PlannedChild } from "./child.ts";

/** How soon a child is created again whose end no event reports. */
const UNWATCHED_RETRY = 1000;

/** A create-only child that exists. */
export interface FoundChild {
  /** `Pod default/web`. */
  readonly name: string;
  readonly key: ObjectKey;
  readonly object: KubeObject;
  /** Whether its labels are those that its kind is watched by. */
  readonly isWatched: boolean;
  readonly owner: KubeObject;
}

/**
 * Keeps a create-only child that exists: one without an owner is adopted, which is the only change ever made to it. One that
 * has lost the labels that it is watched by is deleted, and created again when it is gone.
 */
export async function keepCreated(
  { kind, deletion }: OwnedKind,
  bond: Bond,
  { name, key, object, isWatched, owner }: FoundChild,
  writer: Client,
): Promise<KubeObject> {
  const { uid, resourceVersion, ownerReferences = [] } = object.metadata;
  if (bond.ownerUid(object) === undefined) {
    const { ownerReferences: ours = [], ...metadata } = bond.metadata(owner);
    const merge = { metadata: { ...metadata, uid, resourceVersion, ownerReferences: [...ownerReferences, ...ours] } };
    return await writer.patch(kind, key, { merge: merge as never });
  }
  if (isWatched) return object;
  try {
    const propagationPolicy = deletion === "foreground" ? "Foreground" : "Background";
    await writer.delete(kind, key, {
      preconditions: { uid: uid!, resourceVersion: resourceVersion! },
      propagationPolicy,
    });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  throw new ExternalError("ChildReplaced", `${name} has lost the labels by which it is watched, and is replaced`, {
    requeueAfter: UNWATCHED_RETRY,
  });
}

/**
 * Names the drafts with `generateName`: first after the children that were made from the same `generateName`, oldest
 * first, then freshly. The name is chosen here, not by the server, so that a creation whose response is lost can be
 * looked up.
 */
export function withNames(
  children: readonly PlannedChild[],
  existing: (draft: KubeObject) => readonly KubeObject[] | undefined,
  random: Random,
): readonly PlannedChild[] {
  const isUnnamed = ({ draft }: PlannedChild) => !draft.metadata.name && draft.metadata.generateName;
  if (!children.some(isUnnamed)) return children;
  const returned = new Set(children.map(({ draft }) => draft.metadata.name));
  const available = new Map<string, string[]>();
  return children.map((one) => {
    const { metadata, kind, apiVersion } = one.draft;
    const { generateName: prefix, namespace } = metadata;
    const candidates = isUnnamed(one) ? existing(one.draft) : undefined;
    if (!candidates) return one;
    const group = JSON.stringify([apiVersion, kind, namespace, prefix]);
    let names = available.get(group);
    if (!names) {
      names = candidates
        .filter((child) => child.metadata.generateName === prefix && !child.metadata.deletionTimestamp)
        .filter((child) => !returned.has(child.metadata.name))
        .sort(oldestFirst)
        .map((child) => child.metadata.name!);
      available.set(group, names);
    }
    const name = names.shift() ?? generateName(prefix!, random);
    return { ...one, draft: { ...one.draft, metadata: { ...metadata, name } } as Child };
  });
}

function oldestFirst(a: KubeObject, b: KubeObject): number {
  const [before, after] = [a, b].map(({ metadata }) => `${metadata.creationTimestamp} ${metadata.name}`);
  return before! < after! ? -1 : 1;
}
