import { type EntryPoint, valuesOf } from "./entry-points.ts";

/** The most values that the root of `konverge` exports: what one can read in a sitting. */
export const ROOT_LIMIT = 60;

/** Words that say nothing without their import line: no export, option or context member has one of these names. */
export const VAGUE_NAMES: ReadonlySet<string> = new Set(
  `age child coerce due no outside own prune quiet read required serve steps unknown use wide yes
   Differing Draw Fate Ground Managed Need Part Reachable Refusal Wanted Wants HOME NOWHERE PATIENCE`.split(/\s+/),
);

/** Kinds of Kubernetes bear Kubernetes' names, and the same ones in each version of their group. */
const hasKinds = (specifier: string) => /^konverge\/kinds(\/|$)/.test(specifier);

/** What is wrong with the names of the entry points. */
export function namingProblems(entryPoints: readonly EntryPoint[]): string[] {
  return [...tooManyValues(entryPoints), ...duplicates(entryPoints), ...vagueNames(entryPoints)];
}

function tooManyValues(entryPoints: readonly EntryPoint[]): string[] {
  const count = valuesOf(entryPoints.find(({ specifier }) => specifier === "konverge")).length;
  if (count <= ROOT_LIMIT) return [];
  return [`konverge exports ${count} values: the limit is ${ROOT_LIMIT}; move some to an entry point by theme`];
}

/** A name is exported once, and a value under one name. */
function duplicates(entryPoints: readonly EntryPoint[]): string[] {
  const problems: string[] = [];
  const byName = new Map<string, { specifier: string; origin: string }>();
  const byOrigin = new Map<string, string>();
  for (const { specifier, names } of entryPoints) {
    // Versions of kinds other than the preferred one have the same names as those.
    if (specifier.startsWith("konverge/kinds/")) continue;
    for (const { name, origin, isType } of names) {
      const known = byName.get(name);
      if (known && known.origin !== origin)
        problems.push(`${name} has two meanings: ${known.origin} in ${known.specifier}, ${origin} in ${specifier}`);
      else if (known) problems.push(`${name} is exported by ${known.specifier} and by ${specifier}: choose one`);
      byName.set(name, { specifier, origin });
      const other = byOrigin.get(origin);
      if (!isType && other !== undefined && !known)
        problems.push(`${origin} is exported under two names, in ${other} and in ${specifier}: choose one`);
      byOrigin.set(origin, specifier);
    }
  }
  return problems;
}

function vagueNames(entryPoints: readonly EntryPoint[]): string[] {
  return entryPoints
    .filter(({ specifier }) => !hasKinds(specifier))
    .flatMap(({ specifier, names }) =>
      names
        .filter(({ name }) => VAGUE_NAMES.has(name))
        .map(({ name }) => `${specifier} exports ${name}: choose a name that is understood without its import line`),
    );
}

/** What is wrong with the members of a declaration, if it is one of options or of a context. */
export function memberProblems(specifier: string, name: string, members: readonly string[]): string[] {
  if (!/(Options|Context)$/.test(name)) return [];
  return members
    .filter((member) => VAGUE_NAMES.has(member))
    .map((member) => `${specifier}: ${name}.${member}: choose a name that says what it sets`);
}
