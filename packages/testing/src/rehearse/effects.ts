import type { StoredChange } from "@konverge/apiserver";
import type { Cluster } from "@konverge/cluster";
import { type AnyObject, controllerOf, readinessOf } from "@konverge/core";
import { comparableText } from "../explorer/end-state.ts";
import { nameText, type ObjectName, resourceOf, stableKey, stateCollections } from "./stored-object.ts";

/** What became of an object that there was at the start. */
export interface Effect extends ObjectName {
  readonly type: "deleted" | "recreated" | "restarted" | "unready";
  readonly message: string;
}

/** An object as it was at the start. */
interface Known {
  readonly uid: string;
  readonly isReady: boolean;
}

/** How long an object may be not ready before it counts, in milliseconds: others have to see a change before they follow it. */
const BRIEFLY = 1_000;
/** They follow from other objects: that they go need not be reported. */
const DERIVED = new Set(["controllerrevisions.apps", "endpoints", "endpointslices.discovery.k8s.io"]);
const VOLUMES = new Set(["persistentvolumeclaims", "persistentvolumes"]);

/**
 * Follows what becomes of the objects that there are when it begins: deletions, pods that are replaced or whose containers restart,
 * objects that are not ready any more. It reads the history of the store afterwards, and delays nothing.
 */
export class Effects {
  readonly #cluster: Cluster;
  readonly #start = new Map<string, Map<string, Known>>();
  readonly #found = new Map<string, Effect>();
  /** Since when objects that were ready are not. */
  readonly #unready = new Map<string, { since: number; effect: Effect }>();
  readonly #owners = new Map<string, ObjectName>();
  /** The states that objects other than nodes have been in: what goes back and forth brings nothing new. */
  readonly #states = new Set<string>();
  #seen: number;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
    const { store } = cluster.server;
    this.#seen = store.revision;
    const now = cluster.clock.now();
    for (const storage of stateCollections(cluster)) {
      const known = new Map<string, Known>();
      for (const { key, uid, text } of store.collection(storage).scan("")) {
        const object = JSON.parse(text) as AnyObject;
        known.set(key, { uid, isReady: readinessOf(object, now).status === "Current" });
        this.#owners.set(uid, { resource: resourceOf(storage), key });
      }
      this.#start.set(storage, known);
    }
  }

  /** How many different states objects other than nodes have been in since the start. */
  get states(): number {
    return this.#states.size;
  }

  get found(): readonly Effect[] {
    return [...this.#found.values()];
  }

  /** Takes note of all changes since the last time. Call it more often than the store forgets them. */
  follow(): void {
    const { store } = this.#cluster.server;
    if (store.revision === this.#seen) return;
    const changes = stateCollections(this.#cluster).flatMap((storage) =>
      (store.collection(storage).changesAfter(this.#seen) ?? []).map((change) => ({ ...change, storage })),
    );
    this.#seen = store.revision;
    for (const change of changes.sort((a, b) => a.revision - b.revision)) this.#take(change);
  }

  /** Counts what is still not ready. */
  end(): void {
    this.follow();
    for (const { effect } of this.#unready.values())
      this.#add({ ...effect, message: `${effect.message}, and stays so` });
  }

  #take({ storage, key, entry, previous, deleted, at }: StoredChange & { storage: string }): void {
    const object = JSON.parse(entry.text) as AnyObject;
    if (storage !== "/nodes") this.#states.add(`${storage} ${key} ${deleted} ${comparableText(object)}`);
    const before = this.#start.get(storage)?.get(key);
    const name: ObjectName = { resource: resourceOf(storage), key };
    if (!before && !this.#owners.has(entry.uid)) this.#owners.set(entry.uid, { ...name, key: stableKey(key, object) });
    if (before?.uid === entry.uid && deleted) this.#deleted(name, object);
    if (before && before.uid !== entry.uid && !previous) {
      const what = VOLUMES.has(name.resource)
        ? "it is deleted and made again: its data is lost"
        : "it is deleted and made again";
      this.#found.delete(`deleted ${nameText(name)}`);
      if (name.resource !== "pods" && !DERIVED.has(name.resource))
        this.#add({ ...name, type: "recreated", message: what });
    }
    if (before?.uid === entry.uid && name.resource === "pods" && previous && restarts(object) > restarts(previous.text))
      this.#add({ ...this.#ownerOf(object, name), type: "restarted", message: "containers of its pods restart" });
    if (before?.isReady && !deleted) this.#checkReadiness(name, object, at);
  }

  #deleted(name: ObjectName, object: AnyObject): void {
    this.#unready.delete(nameText(name));
    if (name.resource === "pods") {
      this.#add({ ...this.#ownerOf(object, name), type: "restarted", message: "its pods are replaced" });
    } else if (!DERIVED.has(name.resource)) this.#add({ ...name, type: "deleted", message: "it is deleted" });
  }

  #checkReadiness(name: ObjectName, object: AnyObject, at: number): void {
    const id = nameText(name);
    const known = this.#unready.get(id);
    const { status, message } = readinessOf(object, at);
    if (status === "Current") {
      if (known && at - known.since >= BRIEFLY) this.#add(known.effect);
      this.#unready.delete(id);
    } else if (!known && status !== "Terminating") {
      this.#unready.set(id, {
        since: at,
        effect: { ...name, type: "unready", message: `it is not ready: ${message}` },
      });
    }
  }

  #add(effect: Effect): void {
    const id = `${effect.type} ${nameText(effect)}`;
    if (!this.#found.has(id) || effect.message.endsWith("stays so")) this.#found.set(id, effect);
  }

  /** The workload that a pod belongs to: of a ReplicaSet, the Deployment. */
  #ownerOf(pod: AnyObject, name: ObjectName): ObjectName {
    const controller = controllerOf(pod);
    const owner = controller && this.#owners.get(controller.uid);
    if (!owner) return name;
    const { store } = this.#cluster.server;
    const entry =
      owner.resource === "replicasets.apps" ? store.collection("apps/replicasets").get(owner.key) : undefined;
    const above = entry && controllerOf(JSON.parse(entry.text) as AnyObject);
    return (above && this.#owners.get(above.uid)) ?? owner;
  }
}

function restarts(pod: AnyObject | string): number {
  const { status } = (typeof pod === "string" ? JSON.parse(pod) : pod) as {
    status?: { containerStatuses?: readonly { restartCount?: number }[] };
  };
  return (status?.containerStatuses ?? []).reduce((sum, { restartCount = 0 }) => sum + restartCount, 0);
}
