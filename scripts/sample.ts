// Long suites run in part on every landing: another part for each commit, so that all of it is run over time.
import { execFileSync } from "node:child_process";

/** The seed of a run: the one given, or one that changes with every commit. Print it: it repeats the run. */
export function rotatingSeed(given?: string): number {
  if (given !== undefined) {
    if (!/^\d+$/.test(given)) throw new Error(`--seed ${given}: it must be a whole number`);
    return Number(given);
  }
  try {
    const commit = execFileSync("git", ["rev-parse", "HEAD"], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    return Number.parseInt(commit.slice(0, 6), 16);
  } catch {
    return 1; // Not a git checkout.
  }
}

/** One of `parts` parts of equal size of a list, drawn by the seed, in the list's order. */
export function sample<T>(items: readonly T[], parts: number, seed: number): T[] {
  const order = shuffled(items, seed);
  const chosen = new Set(order.slice(0, Math.ceil(items.length / parts)));
  return items.filter((item) => chosen.has(item));
}

function shuffled<T>(items: readonly T[], seed: number): T[] {
  const result = [...items];
  let state = seed >>> 0;
  for (let i = result.length - 1; i > 0; i--) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const j = Math.floor((state / 2 ** 32) * (i + 1));
    [result[i], result[j]] = [result[j]!, result[i]!];
  }
  return result;
}
