import type { ApiServer } from "@konverge/apiserver";
import type { Clock, KindRef, KubeObject } from "@konverge/core";

/** A kind that the server serves now. */
export interface ServedKind extends KindRef<KubeObject> {
  readonly verbs: readonly string[];
}

/**
 * The kinds that the server serves, and which of them have objects. Custom kinds are added and removed at any time.
 *
 * This is what lets a cluster start in milliseconds: nothing watches a kind before it has its first object.
 */
export class ServedKinds {
  readonly #server: ApiServer;
  readonly #clock: Clock;
  readonly #listeners = new Set<(kind: ServedKind) => void>();
  readonly #mourners = new Set<(kind: ServedKind) => void>();
  /** The kinds by storage. */
  readonly #known = new Map<string, { kind: ServedKind; populated: boolean; leave: () => void }>();
  #generation = -1;

  /** `fresh`: there is nothing but the bootstrap objects of the server, which no component needs to observe. */
  constructor(server: ApiServer, clock: Clock, { fresh = false } = {}) {
    this.#server = server;
    this.#clock = clock;
    this.#follow(fresh);
  }

  /** All kinds that are served, each in its preferred version. */
  all(): ServedKind[] {
    this.#follow();
    return Array.from(this.#known.values(), ({ kind }) => kind);
  }

  /** The kind in an owner reference or an object, in any version. */
  byName(group: string, kind: string): ServedKind | undefined {
    return this.all().find((one) => one.group === group && one.kind === kind);
  }

  /** Calls back once for each kind that has objects, now and as soon as one of its objects comes or changes. */
  onPopulated(listener: (kind: ServedKind) => void): () => void {
    this.#listeners.add(listener);
    for (const { kind, populated } of this.#known.values()) if (populated) listener(kind);
    return () => this.#listeners.delete(listener);
  }

  /** Calls back for each kind that is no longer served: with its definition went its objects, and all watches of them. */
  onWithdrawn(listener: (kind: ServedKind) => void): () => void {
    this.#mourners.add(listener);
    return () => this.#mourners.delete(listener);
  }

  close(): void {
    for (const { leave } of this.#known.values()) leave();
    this.#known.clear();
    this.#listeners.clear();
    this.#mourners.clear();
  }

  /** Follows kinds that were added or removed. */
  #follow(fresh = false): void {
    const { registry, store } = this.#server;
    if (registry.generation === this.#generation) return;
    this.#generation = registry.generation;
    const served = new Set<string>();
    for (const definition of registry.all()) {
      const { group, plural, namespaced, storage, versions } = definition;
      const [version] = versions.values();
      // Where two groups serve the same objects, the first one stands for both.
      if (!version || served.has(storage) || !version.verbs.includes("list")) continue;
      served.add(storage);
      const kind = { group, version: version.version, kind: version.kind, plural, namespaced, verbs: version.verbs };
      const known = this.#known.get(storage);
      if (known) known.kind = kind;
      else {
        const leave = store.onChange(storage, () => {
          // One object is enough.
          leave();
          this.#clock.post(() => this.#changed(storage), "kinds");
        });
        const populated = !fresh && store.collection(storage).size > 0;
        this.#known.set(storage, { kind, populated, leave });
        if (populated) for (const listener of [...this.#listeners]) listener(kind);
      }
    }
    for (const [storage, { kind, leave }] of this.#known) {
      if (served.has(storage)) continue;
      leave();
      this.#known.delete(storage);
      for (const mourner of [...this.#mourners]) mourner(kind);
    }
  }

  #changed(storage: string): void {
    this.#follow();
    const known = this.#known.get(storage);
    if (!known || known.populated) return;
    known.populated = true;
    if (storage === DEFINITIONS) {
      // Custom kinds are known only by their definitions: every change of one may bring another kind.
      known.leave = this.#server.store.onChange(storage, () => this.#clock.post(() => this.#follow(), "kinds"));
    }
    for (const listener of [...this.#listeners]) listener(known.kind);
  }
}

const DEFINITIONS = "apiextensions.k8s.io/customresourcedefinitions";
