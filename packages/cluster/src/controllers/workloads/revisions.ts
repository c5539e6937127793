import {
  deepEqual,
  isAlreadyExists,
  type KindRef,
  type KubeObject,
  keyOf,
  type LabelSelector,
  ownerReference,
  templateHash,
} from "@konverge/core";
import { ControllerRevision, type PodTemplateSpec } from "@konverge/kinds";
import type { ReconcileContext } from "@konverge/runtime";
import { claimChildren } from "./claim.ts";

/** An object whose templates are kept as ControllerRevisions. */
export interface Revised extends KubeObject {
  spec?: { template: PodTemplateSpec; revisionHistoryLimit?: number };
  status?: { collisionCount?: number };
}

/** The revisions of an object: all of them, oldest first, and the one with its current template. */
export interface Revisions {
  all: ControllerRevision[];
  newest: ControllerRevision;
}

/**
 * What a revision keeps of an object: a patch that brings back its template. Others compare its text with what they make of
 * the object, so the fields come in the order of their names.
 */
const dataOf = (object: Revised) => inOrder({ spec: { template: { ...object.spec!.template, $patch: "replace" } } });

function inOrder<T>(value: T): T {
  if (Array.isArray(value)) return value.map(inOrder) as T;
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, one]) => [key, inOrder(one)])) as T;
}

/** The template of a revision. */
export function templateIn(revision: ControllerRevision): PodTemplateSpec {
  const { $patch: _, ...template } = (revision.data as unknown as ReturnType<typeof dataOf>).spec.template;
  return template;
}

/** Finds the revision of an object's template, or makes it; one that comes back gets a new number. */
export async function reviseTemplate<T extends Revised>(
  context: ReconcileContext,
  options: { kind: KindRef<T>; owner: T; selector: LabelSelector; hashLabel: string },
): Promise<Revisions> {
  const { kind, owner, selector, hashLabel } = options;
  const claimed = await claimChildren(context, { kind: ControllerRevision, ownerKind: kind, owner, selector });
  const all = claimed.sort((a, b) => a.revision - b.revision || (a.metadata.name < b.metadata.name ? -1 : 1));
  const next = (all.at(-1)?.revision ?? 0) + 1;
  const data = dataOf(owner);
  const known = all.findLast((revision) => deepEqual(revision.data, data));
  if (known && known === all.at(-1)) return { all, newest: known };
  if (known) {
    // Direct writes: revisions are numbered and shared by content, as clients compare them with Kubernetes' own.
    const renewed = await context.client.update(ControllerRevision, { ...known, revision: next });
    return { all: [...all.filter((one) => one !== known), renewed], newest: renewed };
  }
  const created = await createRevision(context, options, next, hashLabel);
  return { all: [...all, created], newest: created };
}

async function createRevision<T extends Revised>(
  { client }: ReconcileContext,
  { kind, owner }: { kind: KindRef<T>; owner: T },
  revision: number,
  hashLabel: string,
): Promise<ControllerRevision> {
  const { name, namespace } = owner.metadata;
  const data = dataOf(owner);
  for (let collisions = owner.status?.collisionCount ?? 0; ; collisions++) {
    const hash = templateHash(data, collisions || undefined);
    const metadata = {
      name: `${name}-${hash}`,
      namespace: namespace!,
      labels: { ...owner.spec!.template.metadata?.labels, [hashLabel]: hash },
      ownerReferences: [ownerReference(kind, owner)],
    };
    try {
      return await client.create(ControllerRevision, { metadata, data: data as never, revision });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      const existing = await client.get(ControllerRevision, `${namespace}/${metadata.name}`);
      if (deepEqual(existing.data, data)) return existing;
    }
  }
}

/** Deletes the oldest revisions that nothing uses any more, beyond the limit. */
export async function forgetRevisions(
  { client }: ReconcileContext,
  { all, newest }: Revisions,
  limit: number,
  isInUse: (revision: ControllerRevision) => boolean,
): Promise<void> {
  const idle = all.filter((revision) => revision.metadata.uid !== newest.metadata.uid && !isInUse(revision));
  for (const revision of idle.slice(0, Math.max(0, idle.length - limit)))
    await client.delete(ControllerRevision, keyOf(revision));
}
