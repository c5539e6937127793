import type { Cluster } from "@konverge/cluster";
import { type AnyObject, groupKindText, gvkOf, readinessOf } from "@konverge/core";

/** They change all the time, and have no owner. */
const ROUTINE = /(^|\/)(events|leases|nodes)$/;

const AUTOSCALER = "HorizontalPodAutoscaler";

/** An object as it was last seen, and whether it has been ready since its spec last changed. */
interface Seen {
  readonly uid: string | undefined;
  readonly generation: number | undefined;
  /** Its spec without the size, which autoscalers and users change as well. */
  readonly spec: string;
  readonly owner: string | undefined;
  readonly isCurrent: boolean;
  readonly hasBeenCurrent: boolean;
  readonly isEnding: boolean;
  readonly what: string;
}

/**
 * Checks every state of a cluster for objects that are ready too early: by kstatus' rules, which Flux, Argo CD and `kubectl wait` go by, an
 * object must not become current before each of its children has been current since the child's own last change.
 */
export class PrematureReadiness {
  readonly #cluster: Cluster;
  readonly #kinds: () => ReadonlySet<string>;
  readonly #seen = new Map<string, Seen>();
  readonly #problems = new Set<string>();
  #revision = 0;

  /** `kinds`: the group-kinds whose objects are checked. */
  constructor(cluster: Cluster, kinds: () => ReadonlySet<string>) {
    this.#cluster = cluster;
    this.#kinds = kinds;
  }

  /** Reads what has changed since the last call. */
  follow(): void {
    const { store } = this.#cluster.server;
    if (store.revision === this.#revision) return;
    const resources = [...store.resources()].filter((resource) => !ROUTINE.test(resource));
    const changes = resources.flatMap((resource) =>
      (store.collection(resource).changesAfter(Math.max(this.#revision, store.compacted)) ?? []).map((change) => ({
        id: `${resource}/${change.key}`,
        ...change,
      })),
    );
    changes.sort((a, b) => a.revision - b.revision);
    for (const { id, entry, deleted } of changes) {
      if (deleted) this.#seen.delete(id);
      else this.#look(id, JSON.parse(entry.text) as AnyObject);
    }
    this.#revision = store.revision;
  }

  /** What has been found, as sentences. */
  get problems(): string[] {
    return [...this.#problems];
  }

  #look(id: string, object: AnyObject): void {
    const { uid, generation, name, ownerReferences = [], deletionTimestamp } = object.metadata;
    const before = this.#seen.get(id);
    const { replicas: _, ...sized } = (object["spec"] ?? {}) as { replicas?: number };
    const spec = JSON.stringify(sized);
    const isSame = before?.uid === uid && before?.generation === generation;
    const isCurrent = readinessOf(object, this.#cluster.clock.now()).status === "Current";
    this.#seen.set(id, {
      uid,
      generation,
      spec,
      // An autoscaler acts on its target, and is no part of what is ready.
      owner: object.kind === AUTOSCALER ? undefined : ownerReferences.find(({ controller }) => controller)?.uid,
      isCurrent,
      hasBeenCurrent: isCurrent || (before?.uid === uid && before?.spec === spec && before.hasBeenCurrent),
      isEnding: deletionTimestamp !== undefined,
      what: `${object.kind} ${name}`,
    });
    if (!isCurrent || (isSame && before?.isCurrent) || !this.#kinds().has(groupKindText(gvkOf(object)))) return;
    // The status of some other APIs has no observedGeneration: no client can wait for their objects.
    if ((object["status"] as { observedGeneration?: number } | undefined)?.observedGeneration === undefined) return;
    for (const { owner, hasBeenCurrent, isEnding, what } of this.#seen.values()) {
      if (owner !== uid || hasBeenCurrent || isEnding) continue;
      this.#problems.add(`${object.kind} ${name} became ready for generation ${generation} before its ${what} was`);
    }
  }
}
