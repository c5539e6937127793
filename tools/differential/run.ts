import { compare, type Difference } from "./compare.ts";
import { normalize } from "./normalize.ts";
import { play, type Result } from "./play.ts";
import type { Script } from "./script.ts";
import type { Target } from "./target.ts";

/** A real server's normalized answers to a script: from a running server, or from a recording. */
export type Reference = (script: Script, namespace: string) => Promise<readonly Result[]>;

/** How one script went. */
export interface Outcome {
  readonly script: Script;
  readonly real: readonly Result[];
  readonly differences: readonly Difference[];
}

/** Scripts that are under way at the same time. */
const AT_ONCE = 8;

/** The answers of a server that is asked now. */
export function asking(target: Target, variables: Variables): Reference {
  return async (script, namespace) => normalize(await play(script, target, namespace, variables), namespace);
}

/** What scripts may refer to besides `$ns`. */
export type Variables = Readonly<Record<string, string>>;

/** Plays scripts on the embedded server and compares with the reference; several at once, those that must alone. */
export async function runScripts(
  scripts: readonly Script[],
  reference: Reference,
  embedded: Target,
  { prefix, variables }: { prefix: string; variables: Variables },
  onOutcome: (outcome: Outcome) => void,
): Promise<void> {
  const run = async (script: Script, index: number) => {
    const namespace = `${prefix}-${index + 1}`;
    const [real, ours] = await Promise.all([
      reference(script, namespace),
      play(script, embedded, namespace, variables),
    ]);
    onOutcome({ script, real, differences: compare(script.name, real, normalize(ours, namespace)) });
  };
  const numbered = scripts.map((script, index) => ({ script, index }));
  const queue = numbered.filter(({ script }) => !script.alone).values();
  const worker = async () => {
    for (const { script, index } of queue) await run(script, index);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  for (const { script, index } of numbered) if (script.alone) await run(script, index);
}
