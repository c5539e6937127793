/** A group as plain discovery has it. */
export interface PlainGroup {
  readonly name: string;
  readonly versions: readonly { readonly groupVersion: string; readonly version: string }[];
  readonly preferredVersion?: { readonly groupVersion: string; readonly version: string };
}

/** A group as aggregated discovery has it. */
export interface DiscoveredGroup {
  readonly metadata: { readonly name?: string };
  readonly versions: readonly { readonly version: string }[];
}

/** A version of a group that comes from elsewhere. */
export interface ForeignVersion<V> {
  readonly group: string;
  readonly version: V;
}

/** Where groups and versions belong. */
export interface Order {
  groupPriority(group: string): number;
  /** Of versions of one group. */
  compareVersions(group: string, a: string, b: string): number;
}

/** This group names the services themselves and always comes first. */
const FIRST = "apiregistration.k8s.io";

/**
 * A list of groups with foreign versions put in: into the group that is there already, or as another group before the
 * first one of lower priority. A foreign version replaces one of ours.
 */
export function mergeGroups<G, V>(
  groups: readonly G[],
  foreign: readonly ForeignVersion<V>[],
  order: Order,
  form: GroupForm<G, V>,
): G[] {
  const merged = [...groups];
  for (const [group, versions] of Map.groupBy(foreign, (one) => one.group)) {
    const added = versions.map(({ version }) => version);
    const index = merged.findIndex((candidate) => form.nameOf(candidate) === group);
    const names = new Set(added.map(form.versionOf));
    const kept =
      index < 0 ? [] : form.versionsOf(merged[index]!).filter((version) => !names.has(form.versionOf(version)));
    const all = [...kept, ...added].sort((a, b) => order.compareVersions(group, form.versionOf(a), form.versionOf(b)));
    const made = form.make(group, all);
    if (index >= 0) {
      merged[index] = made;
      continue;
    }
    const priority = order.groupPriority(group);
    const before = merged.findIndex((candidate) => {
      const name = form.nameOf(candidate);
      return name !== FIRST && order.groupPriority(name) < priority;
    });
    merged.splice(before < 0 ? merged.length : before, 0, made);
  }
  return merged;
}

/** How a kind of list shows groups and versions. */
export interface GroupForm<G, V> {
  nameOf(group: G): string;
  versionsOf(group: G): readonly V[];
  versionOf(version: V): string;
  make(group: string, versions: readonly V[]): G;
}

export const PLAIN_FORM: GroupForm<PlainGroup, PlainGroup["versions"][number]> = {
  nameOf: ({ name }) => name,
  versionsOf: ({ versions }) => versions,
  versionOf: ({ version }) => version,
  make: (name, versions) => ({ name, versions, ...(versions[0] && { preferredVersion: versions[0] }) }),
};

export const DISCOVERED_FORM: GroupForm<DiscoveredGroup, DiscoveredGroup["versions"][number]> = {
  nameOf: ({ metadata }) => metadata.name ?? "",
  versionsOf: ({ versions }) => versions,
  versionOf: ({ version }) => version,
  make: (name, versions) => ({ metadata: { name, creationTimestamp: null } as { name: string }, versions }),
};
