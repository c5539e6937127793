import type { AnyObject } from "@konverge/core";
import type { ExploredRun } from "./oracle.ts";
import type { ObjectChange } from "./timeline.ts";

/** What stands for a part of a name that is another one in each run. */
const RANDOM = "<random>";
/** Shorter parts are words or counters. */
const SHORTEST = 4;

/**
 * Names with parts that a program or a controller draws at random: UUIDs, hashes of templates. Two runs of the same scenario show them:
 * names that are in one run only, and differ from one of the other run in such parts at the same positions.
 */
export class RandomNames {
  readonly #patterns: readonly RegExp[];

  private constructor(patterns: readonly RegExp[]) {
    this.#patterns = patterns;
  }

  /** None: all names stay as they are. */
  static readonly none = new RandomNames([]);

  /** The names that differ between two runs. */
  static between(one: Pick<ExploredRun, "changes">, other: Pick<ExploredRun, "changes">): RandomNames {
    const [a, b] = [namesByResource(one.changes), namesByResource(other.changes)];
    const patterns = new Map<string, RegExp>();
    for (const [resource, names] of a) {
      const others = b.get(resource) ?? new Set<string>();
      const rest = [...others].filter((name) => !names.has(name));
      for (const name of [...names].filter((one) => !others.has(one))) {
        const pattern = rest.map((candidate) => commonPattern(name, candidate)).find((found) => found !== undefined);
        if (pattern !== undefined) patterns.set(pattern, new RegExp(`^${pattern}$`));
      }
    }
    return new RandomNames([...patterns.values()]);
  }

  get isEmpty(): boolean {
    return this.#patterns.length === 0;
  }

  /** A name with its random parts replaced; the same name if it has none. */
  shown(name: string): string {
    const [parts] = this.#randomParts(name);
    return parts ? replaced(name, parts) : name;
  }

  /** Replaces in any text the random parts of these names, wherever they stand as a word. */
  masking(names: Iterable<string>): (text: string) => string {
    const parts = new Set<string>();
    for (const name of names) for (const found of this.#randomParts(name)) for (const part of found) parts.add(part);
    if (parts.size === 0) return (text) => text;
    return (text) => replaced(text, [...parts]);
  }

  #randomParts(name: string): string[][] {
    return this.#patterns.flatMap((pattern) => {
      const found = pattern.exec(name);
      return found ? [found.slice(1)] : [];
    });
  }
}

/** A run as if no name in it were random: in its objects, its timeline and its failure. */
export function withShownNames<R extends ExploredRun>(run: R, names: RandomNames): R {
  if (names.isEmpty) return run;
  const mask = names.masking(run.changes.map(({ object }) => baseName(object)));
  const masked = <T>(value: T): T => JSON.parse(mask(JSON.stringify(value))) as T;
  return {
    ...run,
    timeline: run.timeline.map((entry) => ({ ...entry, what: mask(entry.what) })),
    changes: run.changes.map((change) => ({
      ...change,
      name: mask(change.name),
      object: masked(change.object),
      ...(change.previous && { previous: masked(change.previous) }),
    })),
    objects: run.objects.map(masked),
    ...(run.failure && { failure: { ...run.failure, message: mask(run.failure.message) } }),
  };
}

function namesByResource(changes: readonly ObjectChange[]): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const { resource, object } of changes)
    found.set(resource, (found.get(resource) ?? new Set()).add(baseName(object)));
  return found;
}

/** The name, or the prefix that the server made it from. */
export function baseName({ metadata: { name, generateName } }: AnyObject): string {
  return generateName ? `${generateName}*` : name;
}

/** The pattern that both names have, if they differ in random parts only. */
function commonPattern(a: string, b: string): string | undefined {
  const [one, other] = [a.split(/([-.])/), b.split(/([-.])/)];
  if (one.length !== other.length) return undefined;
  const parts = one.map((part, i) => {
    if (part === other[i]) return escaped(part);
    const isRandom = isRandomText(part) && isRandomText(other[i]!) && Math.abs(part.length - other[i]!.length) <= 2;
    return isRandom ? `([a-z0-9]{${Math.max(SHORTEST, part.length - 2)},${part.length + 2}})` : undefined;
  });
  return parts.every((part) => part !== undefined) ? parts.join("") : undefined;
}

/** Not a word: it has a digit, or no vowel, as the names that Kubernetes draws. */
function isRandomText(part: string): boolean {
  return part.length >= SHORTEST && /^[a-z0-9]+$/.test(part) && (/\d/.test(part) || !/[aeiou]/.test(part));
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

function replaced(text: string, parts: readonly string[]): string {
  return parts.reduce((result, part) => result.replace(new RegExp(`\\b${part}\\b`, "g"), RANDOM), text);
}
