import type { Condition, KubeObject } from "@konverge/core";
import type { CustomResourceDefinition } from "@konverge/kinds";
import type { Informer } from "./informer.ts";
import type { CacheView, KindAvailability } from "./view.ts";

/**
 * Runs the informer of a kind that need not be installed while its CustomResourceDefinition is there.
 *
 * Guarantees
 * - Nothing is requested while the kind is not served, also while it is being removed.
 * - {@link whenKnown} resolves without the kind, and with one that cannot be listed: such a kind stops no controller.
 * - When the kind goes, its objects leave the cache as deleted ones; when it comes back, even in one step, it is listed anew.
 */
export class KindGate implements KindAvailability {
  readonly #informer: Informer<KubeObject>;
  readonly #definitions: CacheView<CustomResourceDefinition>;
  readonly #listeners = new Set<() => void>();
  readonly #known = Promise.withResolvers<void>();
  /** The uid of the definition that serves the kind. */
  #servedBy: string | undefined;

  constructor(informer: Informer<KubeObject>, definitions: CacheView<CustomResourceDefinition>) {
    this.#informer = informer;
    this.#definitions = definitions;
    informer.suspend();
    definitions.subscribe(() => this.#follow());
    definitions.whenSynced().then(
      () => {
        if (this.#servedBy === undefined) this.#known.resolve();
      },
      () => this.#known.resolve(),
    );
  }

  get isOpen(): boolean {
    return this.#servedBy !== undefined && this.#informer.synced;
  }

  /** Whether the kind is watched. */
  get isWatched(): boolean {
    return this.#servedBy !== undefined;
  }

  whenKnown(): Promise<void> {
    return this.#known.promise;
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The informer has listed the kind. */
  synced(): void {
    this.#known.resolve();
    this.#notify();
  }

  /** The informer's watch has failed. */
  failed(): void {
    this.#known.resolve();
  }

  close(): void {
    this.#listeners.clear();
    this.#definitions.release();
    this.#known.resolve();
  }

  #follow(): void {
    const { kind } = this.#informer;
    const servedBy = servingUid(this.#definitions.get(`${kind.plural}.${kind.group}`), kind.version);
    if (servedBy === this.#servedBy) return;
    const wasOpen = this.isOpen;
    this.#servedBy = servedBy;
    this.#informer.suspend();
    if (servedBy !== undefined) this.#informer.start();
    if (wasOpen) this.#notify();
  }

  #notify(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}

/** The uid of a definition that serves a version. One that is being deleted takes no new objects. */
function servingUid(definition: CustomResourceDefinition | undefined, version: string): string | undefined {
  const { metadata, spec, status } = definition ?? {};
  if (!metadata || metadata.deletionTimestamp) return undefined;
  const isEstablished = status?.conditions?.some(({ type, status: is }) => type === "Established" && is === "True");
  const isServed = spec?.versions?.some(({ name, served }) => name === version && served);
  return isEstablished && isServed ? metadata.uid : undefined;
}

/** What is kept of a definition, which can be large. */
export function servedVersionsOf(definition: CustomResourceDefinition): CustomResourceDefinition {
  const { apiVersion, kind, metadata, spec, status } = definition;
  const { name, uid, resourceVersion, deletionTimestamp } = metadata;
  const conditions = (status?.conditions as Condition[] | undefined)?.filter(({ type }) => type === "Established");
  return {
    apiVersion,
    kind,
    metadata: { name, uid, resourceVersion, ...(deletionTimestamp && { deletionTimestamp }) },
    spec: { versions: spec?.versions?.map(({ name: version, served }) => ({ name: version, served })) ?? [] },
    status: { conditions: conditions ?? [] },
  } as unknown as CustomResourceDefinition;
}
