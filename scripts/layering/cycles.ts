import { posix } from "node:path";
import { type Import, isTest } from "./imports.ts";

/** An import between two files of the repository. */
type Edge = Import & { readonly to: string };

/**
 * Cycles between files, and between the entries (folders and files) of each folder: of several that share a file or an
 * entry, the shortest.
 */
export function cycleProblems(imports: readonly Import[]): string[] {
  const edges = imports.filter((one): one is Edge => one.to !== undefined && one.to !== one.from);
  const betweenFiles = cycles(edges, (file) => file).map((cycle) => describe("import cycle", cycle));
  const ordered = edges.filter(({ from }) => !isTest(from));
  const betweenEntries = foldersOf(ordered).flatMap((folder) => {
    const inside = ordered.filter(({ from, to }) => from.startsWith(`${folder}/`) && to.startsWith(`${folder}/`));
    const entry = (file: string) => file.slice(folder.length + 1).split("/")[0]!;
    return (
      cycles(inside, entry)
        // Between files alone it is reported above.
        .filter((cycle) => cycle.some(({ from }) => entry(from) !== posix.basename(from)))
        .map((cycle) => {
          const names = cycle.map(({ from }) => entry(from));
          return describe(`${folder}: ${[...names, names[0]].join(" → ")}`, cycle);
        })
    );
  });
  return [...betweenFiles, ...betweenEntries];
}

const describe = (title: string, cycle: readonly Edge[]) =>
  [`${title}:`, ...cycle.map(({ from, line, to }) => `  ${from}:${line} imports ${to}`)].join("\n");

function foldersOf(edges: readonly Edge[]): string[] {
  const folders = new Set<string>();
  for (const { from } of edges) {
    for (let folder = posix.dirname(from); folder !== "."; folder = posix.dirname(folder)) folders.add(folder);
  }
  return [...folders].sort();
}

/** The shortest cycle through each node that no other reported cycle goes through. */
function cycles(edges: readonly Edge[], nodeOf: (file: string) => string): Edge[][] {
  const next = new Map<string, Map<string, Edge>>();
  for (const edge of edges) {
    const [from, to] = [nodeOf(edge.from), nodeOf(edge.to)];
    if (from === to) continue;
    const known = next.get(from) ?? new Map<string, Edge>();
    if (!known.has(to)) next.set(from, known.set(to, edge));
  }
  const reported = new Set<string>();
  return [...next.keys()].sort().flatMap((start) => {
    if (reported.has(start)) return [];
    const cycle = shortestCycle(start, next);
    for (const edge of cycle ?? []) reported.add(nodeOf(edge.from));
    return cycle ? [cycle] : [];
  });
}

/** The shortest way from a node back to itself, breadth first. */
function shortestCycle(start: string, next: ReadonlyMap<string, ReadonlyMap<string, Edge>>): Edge[] | undefined {
  const ways = new Map<string, Edge[]>([[start, []]]);
  for (const [node, way] of ways) {
    for (const [to, edge] of next.get(node) ?? []) {
      if (to === start) return [...way, edge];
      if (!ways.has(to)) ways.set(to, [...way, edge]);
    }
  }
  return undefined;
}
