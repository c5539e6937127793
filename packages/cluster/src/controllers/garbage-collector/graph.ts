import { type KubeObject, type ObjectKey, type OwnerReference, parseApiVersion } from "@konverge/core";
import type { ServedKind } from "../../parts/served-kinds.ts";

/** An object as the garbage collector knows it: who owns it, and what it owns. */
export interface Node {
  readonly uid: string;
  readonly apiVersion: string;
  readonly kind: string;
  namespace: string;
  readonly name: string;
  /** Undefined: an owner reference names it, but it has not been observed. */
  served: ServedKind | undefined;
  /** It was seen, and then seen to be deleted. */
  gone: boolean;
  owners: readonly OwnerReference[];
  readonly dependents: Set<Node>;
  deleting: boolean;
  finalizers: readonly string[];
}

/** The finalizers by which users ask the collector for something before an object goes. */
export const FOREGROUND = "foregroundDeletion";
export const ORPHAN = "orphan";

/** A node that waits until those it owns are gone. */
export const waitsForDependents = (node: Node): boolean => node.deleting && node.finalizers.includes(FOREGROUND);

/** The key of a node's object. */
export const nodeKey = ({ namespace, name }: Node): ObjectKey => (namespace ? `${namespace}/${name}` : name);

/** What has become worth a look through a change. */
export interface Looks {
  /** Nodes that may have to be deleted, or whose own deletion may go on. */
  remove: Node[];
  /** Nodes that go and leave behind what they own. */
  orphan: Node[];
  /** Nodes that name an owner which is somewhere else. */
  misplaced: { node: Node; reference: OwnerReference }[];
}

/**
 * All objects and who owns whom, by uid.
 *
 * What must stay true: a node is among the dependents of the node of each of its owners, whether that owner has been seen
 * or not; an owner that was never seen is looked up before anything is concluded from its absence.
 */
export class OwnershipGraph {
  readonly #nodes = new Map<string, Node>();

  get(uid: string): Node | undefined {
    return this.#nodes.get(uid);
  }

  /** An object is there, new or changed. */
  put(served: ServedKind, object: KubeObject): Looks {
    const { metadata } = object;
    const uid = metadata.uid!;
    const looks: Looks = { remove: [], orphan: [], misplaced: [] };
    const owners = metadata.ownerReferences ?? [];
    let node = this.#nodes.get(uid);
    const isNew = !node?.served;
    const before = node?.served ? node.owners : [];
    const wasWaiting = node ? waitsForDependents(node) : false;
    const wasOrphaning = node ? node.deleting && node.finalizers.includes(ORPHAN) : false;
    if (!node) {
      node = this.#insert(uid, object.apiVersion, object.kind, metadata.namespace ?? "", metadata.name);
    } else if (!node.served && node.namespace !== (metadata.namespace ?? "")) {
      // Owner references expect it in another namespace: for those dependents it does not exist.
      node.namespace = metadata.namespace ?? "";
      looks.remove.push(...[...node.dependents].filter((dependent) => dependent.namespace !== node!.namespace));
    }
    node.served = served;
    node.owners = owners;
    node.deleting = metadata.deletionTimestamp !== undefined;
    node.finalizers = metadata.finalizers ?? [];
    this.#connect(node, before, looks);
    if (node.deleting && node.finalizers.includes(ORPHAN) && !wasOrphaning) looks.orphan.push(node);
    if (waitsForDependents(node) && !wasWaiting) looks.remove.push(node, ...node.dependents);
    if ((isNew || changedOwners(before, owners)) && this.#mayLackOwners(node)) looks.remove.push(node);
    return looks;
  }

  /** While all owners are known and stay, there is nothing to look up. */
  #mayLackOwners(node: Node): boolean {
    return node.owners.some(({ uid }) => {
      const owner = this.#nodes.get(uid);
      return !owner?.served || waitsForDependents(owner) || !isPlacedFor(owner, node);
    });
  }

  /** An object is gone: those it owned, and those that waited for it, are to be looked at. */
  delete(uid: string): Node[] {
    const node = this.#nodes.get(uid);
    if (!node) return [];
    const affected = [...node.dependents];
    for (const { uid: owner } of node.owners) {
      const known = this.#nodes.get(owner);
      if (!known) continue;
      known.dependents.delete(node);
      if (waitsForDependents(known)) affected.push(known);
      if (!known.served && known.dependents.size === 0) this.#nodes.delete(owner);
    }
    if (node.dependents.size === 0) this.#nodes.delete(uid);
    else {
      // It stays as an owner that is known not to exist, as long as an owner reference names it.
      node.served = undefined;
      node.gone = true;
      node.owners = [];
      node.deleting = false;
      node.finalizers = [];
    }
    return affected;
  }

  #insert(uid: string, apiVersion: string, kind: string, namespace: string, name: string): Node {
    const node: Node = {
      uid,
      apiVersion,
      kind,
      namespace,
      name,
      served: undefined,
      gone: false,
      owners: [],
      dependents: new Set(),
      deleting: false,
      finalizers: [],
    };
    this.#nodes.set(uid, node);
    return node;
  }

  #connect(node: Node, before: readonly OwnerReference[], looks: Looks): void {
    for (const { uid } of before) {
      if (node.owners.some((owner) => owner.uid === uid)) continue;
      const former = this.#nodes.get(uid);
      former?.dependents.delete(node);
      if (former && waitsForDependents(former)) looks.remove.push(former);
      if (former && !former.served && former.dependents.size === 0) this.#nodes.delete(uid);
    }
    for (const reference of node.owners) {
      const { uid, apiVersion, kind, name } = reference;
      const owner = this.#nodes.get(uid) ?? this.#insert(uid, apiVersion, kind, node.namespace, name);
      const isNews = !owner.dependents.has(node);
      owner.dependents.add(node);
      // Dependents that no longer block may let their owner go.
      if (waitsForDependents(owner)) looks.remove.push(owner);
      if (isNews && owner.served && !isPlacedFor(owner, node)) looks.misplaced.push({ node, reference });
    }
  }
}

/** Whether an owner is where the object can name it: in the same namespace, or in none. */
function isPlacedFor(owner: Node, node: Node): boolean {
  return !owner.served?.namespaced || owner.namespace === node.namespace;
}

function changedOwners(before: readonly OwnerReference[], after: readonly OwnerReference[]): boolean {
  const text = (references: readonly OwnerReference[]) =>
    references.map(({ uid, blockOwnerDeletion }) => `${uid}${blockOwnerDeletion === true}`).join();
  return text(before) !== text(after);
}

/** As an event names an owner: `[apps/v1/Deployment, namespace: a, name: b, uid: c]`. */
export function referenceText({ apiVersion, kind, name, uid }: OwnerReference, namespace: string): string {
  return `[${apiVersion}/${kind}, namespace: ${namespace}, name: ${name}, uid: ${uid}]`;
}

/** The group that an owner reference names; versions do not matter. */
export const ownerGroup = ({ apiVersion }: OwnerReference): string => parseApiVersion(apiVersion).group;
