import { type KubernetesFacts, kubernetesFacts } from "@konverge/kinds";
import type { ResourceDefinition, ResourceVersion } from "./definition.ts";

/** Everything the server serves, by group and plural. Built-in resources are there from the start; those of CRDs are added and removed. */
export class Registry {
  /** Of the version of Kubernetes that is served. */
  readonly facts: KubernetesFacts;
  readonly #resources = new Map<string, ResourceDefinition>();
  readonly #waiters = new Map<string, Set<() => void>>();
  #generation = 0;

  constructor(facts: KubernetesFacts = kubernetesFacts()) {
    this.facts = facts;
  }

  /** Counts changes, so that what is derived from the registry (discovery, OpenAPI) knows when it is stale. */
  get generation(): number {
    return this.#generation;
  }

  /** With `keepWatches`, what is served stays the same for watchers. */
  set(definition: ResourceDefinition, options: { keepWatches?: boolean } = {}): void {
    const name = nameOf(definition.group, definition.plural);
    this.#resources.set(name, definition);
    if (options.keepWatches) this.#generation++;
    else this.#changed(name);
  }

  delete(group: string, plural: string): void {
    const name = nameOf(group, plural);
    if (this.#resources.delete(name)) this.#changed(name);
  }

  /** Calls back when a definition is exchanged or taken away; returns a function that ends this. */
  onChange({ group, plural }: ResourceDefinition, wake: () => void): () => void {
    const name = nameOf(group, plural);
    const waiters = this.#waiters.get(name) ?? new Set();
    this.#waiters.set(name, waiters.add(wake));
    return () => {
      waiters.delete(wake);
      if (waiters.size === 0 && this.#waiters.get(name) === waiters) this.#waiters.delete(name);
    };
  }

  #changed(name: string): void {
    this.#generation++;
    for (const wake of [...(this.#waiters.get(name) ?? [])]) wake();
  }

  get(group: string, plural: string): ResourceDefinition | undefined {
    return this.#resources.get(nameOf(group, plural));
  }

  find(
    group: string,
    version: string,
    plural: string,
  ): { definition: ResourceDefinition; version: ResourceVersion } | undefined {
    const definition = this.get(group, plural);
    const served = definition?.versions.get(version);
    return definition && served && { definition, version: served };
  }

  /** Whether a group is built in. */
  hasBuiltinGroup(group: string): boolean {
    for (const { group: served, custom } of this.#resources.values()) if (served === group && !custom) return true;
    return false;
  }

  all(): Iterable<ResourceDefinition> {
    return this.#resources.values();
  }

  byKind(group: string, kind: string): ResourceDefinition | undefined {
    for (const definition of this.#resources.values()) {
      if (definition.group !== group) continue;
      for (const version of definition.versions.values()) if (version.kind === kind) return definition;
    }
    return undefined;
  }
}

function nameOf(group: string, plural: string): string {
  return `${group}/${plural}`;
}
