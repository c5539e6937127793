import type { Entry, StoredChange } from "@konverge/apiserver";
import type { Cluster } from "@konverge/cluster";
import type { AnyObject } from "@konverge/core";
import { comparableText } from "./end-state.ts";
import type { ClusterState, Invariant, InvariantViolation } from "./oracle.ts";
import type { Actor, ObjectChange } from "./timeline.ts";
import type { World, WrittenObject } from "./world.ts";

/** They tell how something came about, not what is. */
const ROUTINE = new Set(["events", "events.events.k8s.io", "leases.coordination.k8s.io"]);
/** Often enough that no change is compacted before it is seen. */
const FOLLOW_MS = 60_000;

/**
 * Follows all changes in the test namespace of an embedded cluster: what changed, who wrote it, whether the invariants hold in
 * each state. It reads the history of the store afterwards, so it neither delays nor reorders anything.
 */
export class ClusterFollower implements World, ClusterState {
  readonly clock: World["clock"];
  readonly client: World["client"];
  readonly namespace: string;
  readonly changes: ObjectChange[] = [];
  readonly violations: InvariantViolation[] = [];
  /** Identifies the state of what is outside the cluster. Default: there is nothing. */
  outside: (() => string) | undefined;
  readonly #cluster: Cluster;
  readonly #invariants: readonly Invariant[];
  readonly #violated = new Set<Invariant>();
  readonly #objects = new Map<string, Map<string, AnyObject>>();
  readonly #hashes = new Map<string, number>();
  /** Who is writing an object right now: its changes are theirs. */
  readonly #writers = new Map<string, { readonly who: Actor; readonly deletes: boolean }>();
  readonly #started: number;
  #seen: number;
  #hash = 0;
  #stopped = false;

  constructor(cluster: Cluster, namespace: string, invariants: readonly Invariant[] = []) {
    this.#cluster = cluster;
    this.#invariants = invariants;
    this.clock = cluster.clock;
    this.client = cluster.client;
    this.namespace = namespace;
    this.#started = cluster.clock.now();
    this.#seen = cluster.server.store.revision;
    this.#followLater();
  }

  revision(): number {
    return this.#cluster.server.store.revision;
  }

  state(): string {
    this.follow();
    const outside = this.outside?.() ?? "";
    return ((this.#hash ^ (outside === "" ? 0 : hashOf(outside))) >>> 0).toString(36);
  }

  liveVersion(object: { resource: string; namespace: string | undefined; name: string }): string | undefined {
    const { resource, namespace, name } = object;
    const [plural = "", ...group] = resource.split(".");
    const key = namespace === undefined ? name : `${namespace}/${name}`;
    const entry = this.#cluster.server.store.collection(`${group.join(".")}/${plural}`).get(key);
    return entry && String(entry.revision);
  }

  list(resource: string): readonly AnyObject[] {
    const objects = [...(this.#objects.get(resource)?.values() ?? [])];
    return objects.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  }

  /** All objects that have changed since it began. */
  all(): readonly AnyObject[] {
    return [...this.#objects.values()].flatMap((objects) => [...objects.values()]);
  }

  get(resource: string, name: string): AnyObject | undefined {
    return this.#objects.get(resource)?.get(name);
  }

  /** Runs a write and attributes what it changes to its author. */
  async writing<T>(who: Actor, object: WrittenObject, write: () => Promise<T>): Promise<T> {
    this.follow();
    const key = `${object.resource} ${object.name ?? "*"}`;
    this.#writers.set(key, { who, deletes: object.deletes ?? who === "user" });
    try {
      return await write();
    } finally {
      this.follow();
      this.#writers.delete(key);
    }
  }

  /** Takes note of all changes since the last time. */
  follow(): void {
    const { store } = this.#cluster.server;
    if (store.revision === this.#seen) return;
    const news: (StoredChange & { resource: string })[] = [];
    for (const storage of store.resources()) {
      const resource = resourceOfStorage(storage);
      if (ROUTINE.has(resource)) continue;
      for (const change of store.collection(storage).changesAfter(this.#seen) ?? []) {
        if (change.key.startsWith(`${this.namespace}/`)) news.push({ ...change, resource });
      }
    }
    this.#seen = store.revision;
    for (const change of news.sort((a, b) => a.revision - b.revision)) this.#take(change);
  }

  /** Checks what must hold at the end. */
  checkEventually(): void {
    this.follow();
    for (const invariant of this.#invariants) {
      if (invariant.eventually && !invariant.eventually(this)) this.#violate(invariant, "at the end");
    }
  }

  stop(): void {
    this.#stopped = true;
  }

  #take({ resource, key, revision, entry, previous, deleted, at }: StoredChange & { resource: string }): void {
    const name = key.slice(this.namespace.length + 1);
    const object = JSON.parse(entry.text) as AnyObject;
    const change: ObjectChange = {
      revision,
      at: at - this.#started,
      resource,
      namespace: this.namespace,
      name,
      type: deleted ? "deleted" : previous ? "updated" : "created",
      by: this.#writerOf(resource, name, deleted || isMarked(object, previous)),
      object,
      previous: previous && (JSON.parse(previous.text) as AnyObject),
    };
    this.changes.push(change);
    const objects = this.#objects.get(resource) ?? new Map<string, AnyObject>();
    this.#objects.set(resource, objects);
    const id = `${resource} ${name}`;
    this.#hash ^= this.#hashes.get(id) ?? 0;
    if (deleted) {
      objects.delete(name);
      this.#hashes.delete(id);
    } else {
      objects.set(name, object);
      const hash = hashOf(`${resource} ${comparableText(object)}`);
      this.#hashes.set(id, hash);
      this.#hash ^= hash;
    }
    for (const invariant of this.#invariants) {
      if (invariant.always && !invariant.always(this)) {
        this.#violate(invariant, `after ${resource}/${name} was ${change.type} (version ${revision})`, change.at);
      }
    }
  }

  #writerOf(resource: string, name: string, isDeletion: boolean): Actor {
    const keys = [`${resource} ${name}`, `${resource} *`, "* *"];
    const writers = keys.map((key) => this.#writers.get(key));
    return writers.find((writer) => writer && (writer.deletes || !isDeletion))?.who ?? "cluster";
  }

  #violate(invariant: Invariant, message: string, at = this.clock.now() - this.#started): void {
    if (this.#violated.has(invariant)) return;
    this.#violated.add(invariant);
    this.violations.push({ invariant: invariant.name, message, at });
  }

  #followLater(): void {
    this.clock.after(
      FOLLOW_MS,
      () => {
        if (this.#stopped) return;
        this.follow();
        this.#followLater();
      },
      { background: true, label: "explorer" },
    );
  }
}

/** Whether a change is the request to delete an object that a finalizer or a grace period holds. */
function isMarked({ metadata }: AnyObject, previous: Entry | undefined): boolean {
  return metadata.deletionTimestamp !== undefined && !previous?.text.includes('"deletionTimestamp"');
}

/** `/pods` → `pods`, `apps/deployments` → `deployments.apps`. */
function resourceOfStorage(storage: string): string {
  const [group = "", plural = ""] = storage.split("/");
  return group === "" ? plural : `${plural}.${group}`;
}

/** FNV-1a: states are compared within one exploration only. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash;
}
