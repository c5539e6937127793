import type { ResourceDefinition, ResourceVersion } from "./definition.ts";

/** Everything the server serves, by group and plural. Built-in resources are there from the start; CRDs come and go. */
export class Registry {
  readonly #resources = new Map<string, ResourceDefinition>();
  #generation = 0;

  /** Counts changes, so that what is derived from the registry (discovery, OpenAPI) knows when it is stale. */
  get generation(): number {
    return this.#generation;
  }

  set(definition: ResourceDefinition): void {
    this.#resources.set(nameOf(definition.group, definition.plural), definition);
    this.#generation++;
  }

  delete(group: string, plural: string): void {
    if (this.#resources.delete(nameOf(group, plural))) this.#generation++;
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

  /** Whether anything is served under a group, in whatever version. */
  hasGroup(group: string): boolean {
    for (const definition of this.#resources.values()) if (definition.group === group) return true;
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
