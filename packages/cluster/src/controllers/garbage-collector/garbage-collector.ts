import { type Client, metadataOnly } from "@konverge/client";
import {
  type AnyObject,
  isConflict,
  isNotFound,
  type KindRef,
  type KubeObject,
  type OwnerReference,
} from "@konverge/core";
import { type CacheView, EventRecorder } from "@konverge/runtime";
import { KeyWorker } from "../../parts/key-worker.ts";
import type { ComponentContext, ControlPlaneComponent } from "../../parts/part.ts";
import type { ServedKind } from "../../parts/served-kinds.ts";
import {
  type AffectedNodes,
  FOREGROUND,
  type Node,
  nodeKey,
  ORPHAN,
  OwnershipGraph,
  ownerGroup,
  referenceText,
  waitsForDependents,
} from "./graph.ts";

/** Kinds that are never owners and own nothing: to watch them would cost, and change nothing. */
const IGNORED = new Set(["/events"]);

/**
 * Deletes objects whose owners no longer exist.
 *
 * Flow: every kind that has objects is watched, and its objects are added to a graph of owners and dependents. A change
 * queues the nodes that it affects; every write is decided on a live read of the object, with its uid and resourceVersion
 * as preconditions.
 *
 * Guarantees
 * - An object is deleted when none of its owners exists any more, and only then. An owner counts as absent when the server
 *   has no object with its name and uid, or when its kind is no longer served. The cache is not trusted, nor an object
 *   that reuses the name.
 * - A namespaced owner is looked up in the dependent's namespace only. A cluster-scoped object with a namespaced owner is
 *   kept, and so is one whose owner was never observed and is of an unknown kind.
 * - Foreground: the owner stays until its blocking dependents are deleted. Orphan: the dependents stay, without the owner
 *   reference.
 */
class GarbageCollector {
  readonly #graph = new OwnershipGraph();
  readonly #client: Client;
  readonly #context: ComponentContext;
  readonly #views = new Map<string, CacheView<KubeObject>>();
  readonly #remove: KeyWorker;
  readonly #orphan: KeyWorker;
  readonly #events: EventRecorder;
  readonly #leave: readonly (() => void)[];

  constructor(context: ComponentContext) {
    const { client, clock, kinds, log } = context;
    this.#context = context;
    this.#client = client;
    const name = "garbage-collector-controller";
    this.#events = new EventRecorder({ client, clock, component: name, instance: "" });
    this.#remove = new KeyWorker({ clock, log, name, work: (uid) => this.#process(uid) });
    this.#orphan = new KeyWorker({ clock, log, name: `${name}: orphans`, work: (uid) => this.#setFree(uid) });
    this.#leave = [kinds.onPopulated((kind) => this.#monitor(kind)), kinds.onWithdrawn((kind) => this.#withdraw(kind))];
  }

  async stop(): Promise<void> {
    for (const leave of this.#leave) leave();
    await Promise.all([this.#remove.stop(), this.#orphan.stop()]);
    await this.#events.flush();
  }

  #monitor(kind: ServedKind): void {
    const name = `${kind.group}/${kind.plural}`;
    if (IGNORED.has(name) || this.#views.has(name) || !kind.verbs.includes("delete")) return;
    const view = this.#context.cache.use(kind as KindRef<KubeObject>);
    this.#views.set(name, view);
    view.subscribe(({ type, object, before }) => {
      // The name may have been reused for another object.
      if (before && before.metadata.uid !== object.metadata.uid) this.#forget(before.metadata.uid!);
      if (type === "deleted") this.#forget(object.metadata.uid!);
      else this.#follow(this.#graph.put(kind, object));
    });
  }

  #forget(uid: string): void {
    for (const node of this.#graph.delete(uid)) this.#remove.add(node.uid);
  }

  /** The definition of a kind was deleted: its objects are deleted too, but no watch reports that. */
  #withdraw({ group, plural }: ServedKind): void {
    const view = this.#views.get(`${group}/${plural}`);
    if (!view) return;
    const uids = Array.from(view.list(), ({ metadata }) => metadata.uid!);
    this.#views.delete(`${group}/${plural}`);
    view.release();
    for (const uid of uids) this.#forget(uid);
  }

  #follow({ remove, orphan, misplaced }: AffectedNodes): void {
    for (const { owners } of remove) {
      // The kind of an owner has to be watched, even if it has never had objects.
      for (const owner of owners) {
        const kind = this.#context.kinds.byName(ownerGroup(owner), owner.kind);
        if (kind) this.#monitor(kind);
      }
    }
    for (const { uid } of remove) this.#remove.add(uid);
    for (const { uid } of orphan) this.#orphan.add(uid);
    for (const { node, reference } of misplaced) {
      const { apiVersion, kind, name, namespace, uid } = node;
      this.#events
        .about({ apiVersion, kind, metadata: { name, ...(namespace && { namespace }), uid } })
        .warning(
          "OwnerRefInvalidNamespace",
          `ownerRef ${referenceText(reference, namespace)} does not exist in namespace ${JSON.stringify(namespace)}`,
        );
    }
  }

  async #process(uid: string): Promise<undefined> {
    const node = this.#graph.get(uid);
    if (!node?.served) return undefined;
    if (node.deleting && !waitsForDependents(node)) return undefined;
    const object = await this.#read(node.served, nodeKey(node));
    if (object?.metadata.uid !== uid) return undefined;
    const { metadata } = object;
    if (metadata.deletionTimestamp && metadata.finalizers?.includes(FOREGROUND)) {
      await this.#awaitDependents(node, object);
      return undefined;
    }
    if (!metadata.ownerReferences?.length) return undefined;
    await this.#judge(node, object, metadata.ownerReferences);
    return undefined;
  }

  /** Removes the finalizer of an owner without blocking dependents, or queues the dependents for deletion. */
  async #awaitDependents(node: Node, object: KubeObject): Promise<void> {
    const blocking = [...node.dependents].filter((dependent) =>
      dependent.owners.some(({ uid, blockOwnerDeletion }) => uid === node.uid && blockOwnerDeletion),
    );
    if (blocking.length === 0) return this.#removeFinalizer(node, object, FOREGROUND);
    for (const dependent of blocking) if (!waitsForDependents(dependent)) this.#remove.add(dependent.uid);
  }

  async #judge(node: Node, object: KubeObject, owners: readonly OwnerReference[]): Promise<void> {
    const solid: OwnerReference[] = [];
    const absent: OwnerReference[] = [];
    const waiting: OwnerReference[] = [];
    for (const reference of owners) {
      const owner = await this.#owner(node, reference);
      if (owner === "unknown") return;
      if (!owner) absent.push(reference);
      else if (owner.metadata.deletionTimestamp && owner.metadata.finalizers?.includes(FOREGROUND))
        waiting.push(reference);
      else solid.push(reference);
    }
    if (solid.length > 0) {
      if (absent.length + waiting.length === 0) return;
      await this.#patchOwners(node, object, solid);
    } else if (waiting.length > 0 && node.dependents.size > 0) {
      // Two objects that wait for each other would be deadlocked.
      if ([...node.dependents].some(waitsForDependents)) {
        await this.#patchOwners(
          node,
          object,
          owners.map((owner) => ({ ...owner, blockOwnerDeletion: false })),
          true,
        );
      }
      await this.#delete(node, "Foreground");
    } else {
      const { finalizers = [] } = object.metadata;
      const policy = finalizers.includes(ORPHAN)
        ? "Orphan"
        : finalizers.includes(FOREGROUND)
          ? "Foreground"
          : "Background";
      await this.#delete(node, policy, object.metadata.resourceVersion);
    }
  }

  /** The owner as read from the server; undefined if it does not exist; `unknown` if that cannot be decided. */
  async #owner(node: Node, reference: OwnerReference): Promise<KubeObject | "unknown" | undefined> {
    const kind = this.#context.kinds.byName(ownerGroup(reference), reference.kind);
    // Objects are deleted with their definition: they can no longer be read, but their deletion was observed.
    if (!kind && this.#graph.get(reference.uid)?.deleted) return undefined;
    if (!kind) throw new Error(`unable to find the kind ${reference.apiVersion} ${reference.kind} of an owner`);
    if (kind.namespaced && !node.namespace) return "unknown";
    const key = kind.namespaced ? `${node.namespace}/${reference.name}` : reference.name;
    const owner = await this.#read(kind, key);
    return owner?.metadata.uid === reference.uid ? owner : undefined;
  }

  /** Takes an owner's reference from those it owns, then lets it go. */
  async #setFree(uid: string): Promise<undefined> {
    const node = this.#graph.get(uid);
    if (!node?.served) return undefined;
    for (const dependent of [...node.dependents]) {
      if (!dependent.served) continue;
      const object = await this.#read(dependent.served, nodeKey(dependent));
      if (object?.metadata.uid !== dependent.uid) continue;
      const owners = (object.metadata.ownerReferences ?? []).filter((owner) => owner.uid !== uid);
      if (owners.length === (object.metadata.ownerReferences ?? []).length) continue;
      await this.#patchOwners(dependent, object, owners);
    }
    const object = await this.#read(node.served, nodeKey(node));
    if (object?.metadata.uid === uid) await this.#removeFinalizer(node, object, ORPHAN);
    return undefined;
  }

  async #removeFinalizer(node: Node, object: KubeObject, finalizer: string): Promise<void> {
    const { uid, resourceVersion, finalizers = [] } = object.metadata;
    const rest = finalizers.filter((one) => one !== finalizer);
    if (rest.length === finalizers.length) return;
    await this.#patch(node, { metadata: { uid, resourceVersion, finalizers: rest.length > 0 ? rest : null } });
  }

  async #patchOwners(
    node: Node,
    object: KubeObject,
    owners: readonly OwnerReference[],
    keepVersion = false,
  ): Promise<void> {
    const { uid, resourceVersion } = object.metadata;
    const ownerReferences = owners.length > 0 ? owners : null;
    await this.#patch(node, { metadata: { uid, ...(!keepVersion && { resourceVersion }), ownerReferences } });
  }

  async #patch(node: Node, merge: object): Promise<void> {
    try {
      const kind = metadataOnly(node.served!) as unknown as KindRef<AnyObject>;
      // Direct writes: it deletes and releases what belongs to owners of any kind.
      await this.#client.patch(kind, nodeKey(node), { merge: merge as never });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  async #delete(node: Node, propagationPolicy: "Background" | "Foreground" | "Orphan", resourceVersion?: string) {
    const preconditions = { uid: node.uid, ...(resourceVersion && { resourceVersion }) };
    try {
      await this.#client.delete(metadataOnly(node.served!), nodeKey(node), { propagationPolicy, preconditions });
    } catch (error) {
      if (isConflict(error)) this.#remove.add(node.uid);
      else if (!isNotFound(error)) throw error;
    }
  }

  async #read(kind: ServedKind, key: string): Promise<KubeObject | undefined> {
    try {
      return await this.#client.get(metadataOnly(kind), key);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }
}

/** The garbage collector, from the first object of any kind on. */
export const garbageCollector: ControlPlaneComponent = {
  name: "generic-garbage-collector",
  startsWith: "cluster",
  start: async (context) => new GarbageCollector(context),
};
