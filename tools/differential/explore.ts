import fc from "fast-check";
import { compare, type Difference } from "./compare.ts";
import { conversations, generatedDefinition } from "./generate.ts";
import type { KnownDifferences } from "./known-differences.ts";
import { normalize } from "./normalize.ts";
import { play } from "./play.ts";
import type { Script } from "./script.ts";
import type { Target } from "./target.ts";

/** The result of exploring: how many answers were compared, and the shortest conversation with a difference. */
export interface Exploration {
  readonly answers: number;
  readonly seed: number;
  readonly failure?: { readonly script: Script; readonly differences: readonly Difference[] };
}

/** Holds `runs` random conversations with both servers, and shrinks the first one with a difference. */
export async function explore(
  real: Target,
  embedded: Target,
  known: KnownDifferences,
  options: { runs: number; seed: number; prefix: string },
): Promise<Exploration> {
  const group = `${options.prefix}.example.com`;
  await Promise.all([real, embedded].map((target) => define(target, group)));
  let answers = 0;
  let count = 0;
  let last: readonly Difference[] = [];
  const property = fc.asyncProperty(conversations(group), async (script) => {
    const namespace = `${options.prefix}-g${++count}`;
    const [theirs, ours] = await Promise.all([play(script, real, namespace), play(script, embedded, namespace)]);
    answers += theirs.length;
    const differences = compare(script.name, normalize(theirs, namespace), normalize(ours, namespace)).filter(
      (difference) => !known.covers(difference),
    );
    if (differences.length > 0) last = differences;
    return differences.length === 0;
  });
  const { failed, counterexample } = await fc.check(property, { numRuns: options.runs, seed: options.seed });
  if (!failed || !counterexample) return { answers, seed: options.seed };
  return { answers, seed: options.seed, failure: { script: counterexample[0], differences: last } };
}

async function define(target: Target, group: string): Promise<void> {
  const steps: Script["steps"] = [
    { request: "POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions", body: generatedDefinition(group) },
    { wait: `GET /apis/${group}/v1/toys` },
    // A real server makes the first creates after that wait; once is enough.
    {
      wait: `POST /apis/${group}/v1/namespaces/$ns/toys`,
      body: { apiVersion: `${group}/v1`, kind: "Toy", metadata: { name: "first" } },
      status: 201,
    },
  ];
  await play({ name: "define", file: "generated", steps }, target, `${group.split(".")[0]}-define`);
}
