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
  /** Both the object and its deletion were observed. */
  deleted: boolean;
  owners: readonly OwnerReference[];
  readonly dependents: Set<Node>;
  deleting: boolean;
  finalizers: readonly string[];
}

/** The finalizers that select how the dependents of a deleted object are treated. */
export const FOREGROUND = "foregroundDeletion";
export const ORPHAN = "orphan";

/** Whether a node waits until its dependents are deleted. */
export const waitsForDependents = (node: Node): boolean => node.deleting && node.finalizers.includes(FOREGROUND);

/** The key of a node's object. */
export const nodeKey = ({ namespace, name }: Node): ObjectKey => (namespace ? `${namespace}/${name}` : name);

/** The nodes that a change affects. */
export interface AffectedNodes {
  /** Nodes that may have to be deleted, or whose deletion may continue. */
  remove: Node[];
  /** Nodes that are being deleted and orphan their dependents. */
  orphan: Node[];
  /** Nodes with an owner reference to an object in another namespace. */
  misplaced: { node: Node; reference: OwnerReference }[];
}

/**
 * All objects and who owns whom, by uid.
 *
 * Invariants: a node is a dependent of each of its owners' nodes, even if that owner has not been observed; an owner that
 * was never observed is looked up before it counts as absent.
 */
export class OwnershipGraph {
  readonly #nodes = new Map<string, Node>();

  get(uid: string): Node | undefined {
    return this.#nodes.get(uid);
  }

  /** An object is there, new or changed. */
  put(served: ServedKind, object: KubeObject): AffectedNodes {
    const { metadata } = object;
    const uid = metadata.uid!;
    const affected: AffectedNodes = { remove: [], orphan: [], misplaced: [] };
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
      affected.remove.push(...[...node.dependents].filter((dependent) => dependent.namespace !== node!.namespace));
    }
    node.served = served;
    node.owners = owners;
    node.deleting = metadata.deletionTimestamp !== undefined;
    node.finalizers = metadata.finalizers ?? [];
    this.#connect(node, before, affected);
    if (node.deleting && node.finalizers.includes(ORPHAN) && !wasOrphaning) affected.orphan.push(node);
    if (waitsForDependents(node) && !wasWaiting) affected.remove.push(node, ...node.dependents);
    if ((isNew || changedOwners(before, owners)) && this.#mayLackOwners(node)) affected.remove.push(node);
    return affected;
  }

  /** While all owners are known and stay, there is nothing to look up. */
  #mayLackOwners(node: Node): boolean {
    return node.owners.some(({ uid }) => {
      const owner = this.#nodes.get(uid);
      return !owner?.served || waitsForDependents(owner) || !isPlacedFor(owner, node);
    });
  }

  /** An object was deleted. Returns its dependents, and the nodes that waited for it. */
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
      node.deleted = true;
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
      deleted: false,
      owners: [],
      dependents: new Set(),
      deleting: false,
      finalizers: [],
    };
    this.#nodes.set(uid, node);
    return node;
  }

  #connect(node: Node, before: readonly OwnerReference[], affected: AffectedNodes): void {
    for (const { uid } of before) {
      if (node.owners.some((owner) => owner.uid === uid)) continue;
      const former = this.#nodes.get(uid);
      former?.dependents.delete(node);
      if (former && waitsForDependents(former)) affected.remove.push(former);
      if (former && !former.served && former.dependents.size === 0) this.#nodes.delete(uid);
    }
    for (const reference of node.owners) {
      const { uid, apiVersion, kind, name } = reference;
      const owner = this.#nodes.get(uid) ?? this.#insert(uid, apiVersion, kind, node.namespace, name);
      const isNews = !owner.dependents.has(node);
      owner.dependents.add(node);
      // Dependents that no longer block may let their owner go.
      if (waitsForDependents(owner)) affected.remove.push(owner);
      if (isNews && owner.served && !isPlacedFor(owner, node)) affected.misplaced.push({ node, reference });
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
