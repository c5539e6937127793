// What is different in a version, compared with the default one: the inverse of packages/kinds/src/version-delta.ts.
import { isDeepStrictEqual } from "node:util";
import type {
  ChangedDefinition,
  ChangedGroup,
  DefinitionFact,
  DefinitionsFile,
  FieldFact,
  ResourcesFile,
} from "../../packages/kinds/src/fact-types.ts";

type Groups = ResourcesFile["groups"];

/** What makes the second of the first; undefined for nothing. */
export function definitionChanges(
  base: DefinitionsFile,
  other: DefinitionsFile,
): Record<string, ChangedDefinition | null> | undefined {
  const changes: Record<string, ChangedDefinition | null> = {};
  for (const name of Object.keys(base)) if (!Object.hasOwn(other, name)) changes[name] = null;
  for (const [name, fact] of Object.entries(other)) {
    const known = Object.hasOwn(base, name) ? base[name] : undefined;
    if (!isSame(known, fact)) changes[name] = definitionChange(known, fact);
  }
  return Object.keys(changes).length > 0 ? changes : undefined;
}

function definitionChange(base: DefinitionFact | undefined, { fields, ...rest }: DefinitionFact): ChangedDefinition {
  if (!fields) return rest;
  const own = Object.entries(fields).map(([name, fact]): [string, FieldFact | 0] => [
    name,
    isDeepStrictEqual(base?.fields?.[name], fact) ? 0 : fact,
  ]);
  return { ...rest, fields: Object.fromEntries(own) };
}

/** The order of fields counts: it is the one in which the server writes them. */
function isSame(one: DefinitionFact | undefined, other: DefinitionFact): boolean {
  const order = (fact: DefinitionFact | undefined) => Object.keys(fact?.fields ?? {});
  return isDeepStrictEqual(one, other) && isDeepStrictEqual(order(one), order(other));
}

/** What makes the second of the first. */
export function groupChanges(base: Groups, other: Groups): (ChangedGroup | string)[] {
  return other.map((one) => {
    const known = base.find(({ group }) => group === one.group);
    if (isDeepStrictEqual(known, one)) return one.group;
    const versions = one.versions.map(({ version, resources }) => {
      const same = known?.versions.find((candidate) => candidate.version === version)?.resources ?? [];
      const all = resources.map((resource) =>
        same.some((candidate) => isDeepStrictEqual(candidate, resource)) ? resource.plural : resource,
      );
      return { version, resources: all };
    });
    return { group: one.group, versions };
  });
}
