import { type AnyObject, parseJson } from "@konverge/core";
import type { PersistentVolume, Pod } from "../../codec/objects.ts";
import { CollectionFollower } from "../../storage/collection-follower.ts";
import type { Entry } from "../../storage/entry.ts";
import type { Store } from "../../storage/store.ts";
import { configMapsOf, resourceClaimsOf, secretsOf, secretsOfPersistentVolume, volumeClaimsOf } from "./references.ts";

/** What can lead to a node. */
export type VertexType =
  | "configmap"
  | "node"
  | "persistentvolume"
  | "persistentvolumeclaim"
  | "pod"
  | "resourceclaim"
  | "resourceslice"
  | "secret"
  | "serviceaccount"
  | "volumeattachment";

/** An edge, from what is needed to what needs it. */
type Edge = readonly [from: string, to: string];

const MIRROR = "kubernetes.io/config.mirror";

const vertex = (type: VertexType, namespace: string, name: string) => `${type} ${namespace}/${name}`;

/** The edges that an object brings into the graph, by its collection. */
const EDGES: Readonly<Record<string, (object: AnyObject) => Edge[]>> = {
  "/pods": (object) => podEdges(object as unknown as Pod),
  "/persistentvolumes": (object) => volumeEdges(object as unknown as PersistentVolume),
  "storage.k8s.io/volumeattachments": (object) => nodeEdges("volumeattachment", object),
  "resource.k8s.io/resourceslices": (object) => nodeEdges("resourceslice", object),
};

/**
 * What each node needs: edges lead from objects by way of pods, claims and volumes to the nodes where they are used. It
 * follows the store by its changes, so that a pod's needs are known as soon as it is bound.
 */
export class NodeGraph {
  readonly #follower: CollectionFollower;
  /** The objects that one leads to. */
  readonly #next = new Map<string, Set<string>>();
  /** The edges of an object, by collection and key. */
  readonly #known = new Map<string, readonly Edge[]>();

  constructor(store: Store) {
    this.#follower = new CollectionFollower(store, Object.keys(EDGES), {
      clear: () => {
        this.#next.clear();
        this.#known.clear();
      },
      set: (resource, key, entry) => this.#set(resource, key, entry),
    });
  }

  /** Whether an object is needed on a node. */
  leadsTo(node: string, type: VertexType, namespace: string, name: string): boolean {
    this.#follower.follow();
    const target = vertex("node", "", node);
    const reached = new Set([vertex(type, namespace, name)]);
    for (const one of reached) {
      if (one === target) return true;
      for (const next of this.#next.get(one) ?? []) reached.add(next);
    }
    return false;
  }

  /** Each edge comes from one object alone: that which it is about, or for a pod's needs the pod. */
  #set(resource: string, key: string, entry: Entry | undefined): void {
    const id = `${resource} ${key}`;
    for (const [from, to] of this.#known.get(id) ?? []) {
      const next = this.#next.get(from);
      next?.delete(to);
      if (next?.size === 0) this.#next.delete(from);
    }
    this.#known.delete(id);
    const edges = entry ? EDGES[resource]!(parseJson(entry.text) as AnyObject) : [];
    if (edges.length === 0) return;
    this.#known.set(id, edges);
    for (const [from, to] of edges) this.#next.set(from, (this.#next.get(from) ?? new Set()).add(to));
  }
}

function podEdges(pod: Pod): Edge[] {
  const { name, namespace = "", annotations } = pod.metadata;
  const { nodeName, serviceAccountName } = pod.spec ?? {};
  if (!nodeName) return [];
  const self = vertex("pod", namespace, name);
  const own: Edge = [self, vertex("node", "", nodeName)];
  // A node creates mirror pods itself: they must not give it anything.
  if (annotations?.[MIRROR] !== undefined) return [own];
  const needs = (type: VertexType, names: readonly string[]): Edge[] =>
    names.map((needed) => [vertex(type, namespace, needed), self]);
  return [
    own,
    ...needs("serviceaccount", serviceAccountName ? [serviceAccountName] : []),
    ...needs("secret", secretsOf(pod)),
    ...needs("configmap", configMapsOf(pod)),
    ...needs("persistentvolumeclaim", volumeClaimsOf(pod)),
    ...needs("resourceclaim", resourceClaimsOf(pod)),
  ];
}

function volumeEdges(volume: PersistentVolume): Edge[] {
  const claim = volume.spec?.claimRef;
  if (!claim) return [];
  const self = vertex("persistentvolume", "", volume.metadata.name);
  return [
    [self, vertex("persistentvolumeclaim", claim.namespace ?? "", claim.name ?? "")],
    ...secretsOfPersistentVolume(volume).map(({ namespace, name }): Edge => [vertex("secret", namespace, name), self]),
  ];
}

function nodeEdges(type: VertexType, object: AnyObject): Edge[] {
  const { nodeName } = (object["spec"] ?? {}) as { nodeName?: string };
  return nodeName ? [[vertex(type, "", object.metadata.name), vertex("node", "", nodeName)]] : [];
}
