import { posix } from "node:path";

/** One file importing another file or a package, be it a value, a type, a re-export or loaded when needed. */
export interface Import {
  readonly from: string;
  readonly line: number;
  readonly specifier: string;
  /** The imported file, if it belongs to the repository and the specifier is relative. */
  readonly to?: string;
}

/** Source texts by path, relative to the root of the repository. */
export type Sources = ReadonlyMap<string, string>;

/** Statements start a line (the formatter sees to that); `import("…")`, of a value or a type, can be anywhere. */
const IMPORT = /(?:^(?:import|export)\s(?:[^"'`;]*?\sfrom\s)?|\bimport\()"([^"]+)"/gm;

/** Everything that the sources import, in the order of the files. */
export function importsIn(sources: Sources): Import[] {
  return [...sources].flatMap(([from, text]) =>
    [...text.matchAll(IMPORT)].map((match) => {
      const specifier = match[1]!;
      const target = specifier.startsWith(".") ? posix.join(posix.dirname(from), specifier) : undefined;
      return {
        from,
        line: text.slice(0, match.index + match[0].length).split("\n").length,
        specifier,
        ...(target !== undefined && sources.has(target) && { to: target }),
      };
    }),
  );
}

/** Tests may import what they test and what they test it with, so directions do not apply to them. */
export const isTest = (file: string): boolean => /\.test\.ts$|(^|\/)test\//.test(file);
