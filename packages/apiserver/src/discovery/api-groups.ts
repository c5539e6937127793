import { createHash } from "node:crypto";
import { apiVersionOf } from "@konverge/core";
import type { ResourceDefinition, ResourceVersion } from "../resources/definition.ts";
import type { Registry } from "../resources/registry.ts";
import { compareVersions } from "../resources/version-order.ts";

/** A served version of a group, and what is in it. */
export interface ServedVersion {
  readonly group: string;
  readonly version: string;
  readonly resources: readonly { definition: ResourceDefinition; version: ResourceVersion }[];
}

export interface ServedGroup {
  readonly group: string;
  /** The preferred one first. */
  readonly versions: readonly ServedVersion[];
}

/** What the registry serves, by group and version: built-in groups in the order of their facts, then others by name. */
export function servedGroups(registry: Registry): ServedGroup[] {
  const groups = new Map<string, { custom: boolean; versions: Map<string, ServedVersion["resources"][number][]> }>();
  for (const definition of registry.all()) {
    let group = groups.get(definition.group);
    if (!group) {
      group = { custom: definition.custom, versions: new Map() };
      groups.set(definition.group, group);
    }
    for (const version of definition.versions.values()) {
      const resources = group.versions.get(version.version);
      if (resources) resources.push({ definition, version });
      else group.versions.set(version.version, [{ definition, version }]);
    }
  }
  return [...groups]
    .sort(
      ([a, { custom: aCustom }], [b, { custom: bCustom }]) =>
        Number(aCustom) - Number(bCustom) || (aCustom && a > b ? 1 : 0),
    )
    .map(([group, { versions }]) => ({
      group,
      versions: [...versions]
        .sort(([a], [b]) => compareVersions(a, b))
        .map(([version, resources]) => ({ group, version, resources })),
    }));
}

/** How clients notice that objects are now stored in another version: a digest of the stored version's name. */
export function storageVersionHash({ group, storageVersion, versions }: ResourceDefinition): string {
  const kind = versions.get(storageVersion)?.kind ?? [...versions.values()][0]!.kind;
  const digest = createHash("sha256").update(`${group}/${storageVersion}/${kind}`).digest();
  return digest.subarray(0, 8).toString("base64");
}

/** Verbs of built-in resources come by name, those of custom ones as their definition has them. */
export function verbsOf({ custom }: ResourceDefinition, { verbs }: ResourceVersion): readonly string[] {
  return custom ? verbs : [...verbs].sort();
}

export function groupVersionText({ group, version }: { group: string; version: string }): string {
  return apiVersionOf({ group, version });
}
