// How the facts of a version are made from those of the default version. tools/facts/version-changes.ts is the inverse.
import type {
  ChangedDefinition,
  ChangedGroup,
  DefinitionFact,
  DefinitionsFile,
  FieldFact,
  ResourcesFile,
} from "./fact-types.ts";

type Groups = ResourcesFile["groups"];

/** The definitions of a file in another version. */
export function changedDefinitions(
  base: DefinitionsFile,
  changes: Readonly<Record<string, ChangedDefinition | null>> = {},
): DefinitionsFile {
  const definitions: DefinitionsFile = { ...base };
  for (const [name, change] of Object.entries(changes)) {
    if (change === null) delete definitions[name];
    else definitions[name] = changedDefinition(base[name], change);
  }
  return definitions;
}

function changedDefinition(base: DefinitionFact | undefined, { fields, ...rest }: ChangedDefinition): DefinitionFact {
  if (!fields) return rest;
  const own = Object.entries(fields).map(([name, fact]) => [name, fact === 0 ? base!.fields![name]! : fact]);
  return { ...rest, fields: Object.fromEntries(own) as Record<string, FieldFact> };
}

/** The groups of another version, in the order of its discovery. */
export function changedGroups(base: Groups, changes: readonly (ChangedGroup | string)[] = []): Groups {
  return changes.map((change) => {
    if (typeof change === "string") return base.find(({ group }) => group === change)!;
    const known = base.find(({ group }) => group === change.group);
    const versions = change.versions.map(({ version, resources }) => {
      const same = known?.versions.find((one) => one.version === version)?.resources ?? [];
      const all = resources.map((one) => (typeof one === "string" ? same.find(({ plural }) => plural === one)! : one));
      return { version, resources: all };
    });
    return { group: change.group, versions };
  });
}
