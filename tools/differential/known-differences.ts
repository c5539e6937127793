import { readFileSync } from "node:fs";
import { parse } from "yaml";
import type { Difference } from "./compare.ts";

/** A difference we have decided to live with. Every one carries its reason; one that no longer occurs is an error. */
export interface KnownDifference {
  readonly reason: string;
  /** The fields that differ, as a regular expression: without it, an entry would mask whole kinds and verbs. */
  readonly path: string;
  /** Regular expressions; what is left out matches everything. */
  readonly script?: string;
  readonly what?: string;
}

export class KnownDifferences {
  readonly #known: (KnownDifference & { hits: number })[];

  constructor(file: URL) {
    this.#known = ((parse(readFileSync(file, "utf8")) ?? []) as KnownDifference[]).map((known) => ({
      ...known,
      hits: 0,
    }));
    const broad = this.#known.find(({ path }) => !path);
    if (broad)
      throw new Error(`a known difference has no path: add the path of the fields that differ: ${broad.reason}`);
  }

  get count(): number {
    return this.#known.length;
  }

  covers(difference: Difference): boolean {
    const known = this.#known.find((candidate) =>
      (["script", "what", "path"] as const).every(
        (field) => candidate[field] === undefined || new RegExp(candidate[field]).test(difference[field]),
      ),
    );
    if (known) known.hits++;
    return known !== undefined;
  }

  /** Entries that covered nothing: they describe a difference that no longer exists. */
  unused(): KnownDifference[] {
    return this.#known.filter((known) => known.hits === 0);
  }
}
