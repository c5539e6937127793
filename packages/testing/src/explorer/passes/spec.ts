import { type AnyObject, ApiError, controllerOf, keyOf, seededRandom } from "@konverge/core";
import type { AnyKind } from "@konverge/schema";
import type { Scenario } from "../../environment/test-environment.ts";
import { type EndState, endStateDifferences } from "../end-state.ts";
import { inPart } from "../part.ts";
import { type SpecVariant, specVariants } from "../spec-variants.ts";
import { failureText, restlessness } from "./idle-operator.ts";
import type { PassOptions, PassResult } from "./pass.ts";
import { type Recording, recorded } from "./recording.ts";
import { standing } from "./standing.ts";

/** Who edits by hand. */
const EDITOR = "kubectl-edit";

/**
 * Runs a scenario, then changes one field of an object's spec after the other, and back: see {@link specVariants}. Some of these
 * specs are bad: the API server or a webhook rejects them, or the operator cannot reach them. Every time the operator must
 * become idle, the status must speak of the last generation, and after the way back all must be as it was: what a bad
 * spec broke has recovered, and what an added field put into a child has left it.
 */
export async function specPass(scenario: Scenario, options: PassOptions = {}): Promise<PassResult> {
  const played = ({ observed }: Recording) => scenario(observed);
  const { result: tried, problems } = await recorded(played, options, {}, async (recording) => {
    const { environment } = recording;
    await environment.settled();
    const bench: Bench = { recording, options, state: await standing(environment, options) };
    const all: Transition[] = [];
    for (const kind of environment.kinds) {
      for (const object of (await environment.list(kind)) as readonly AnyObject[]) {
        if (controllerOf(object) || object.metadata.deletionTimestamp) continue;
        const variants = specVariants(kind, object).filter(({ pointer }) => !options.except?.(object, pointer));
        all.push(...variants.map((variant) => ({ kind, object, variant })));
      }
    }
    const chosen = inPart(sample(all, options), options.part);
    for (const transition of chosen) await thereAndBack(bench, transition);
    recording.begins("nothing more is done");
    recording.report(...(await restlessness(environment)));
    return chosen.length;
  });
  return { tried, runs: 1, problems };
}

interface Bench {
  readonly recording: Recording;
  readonly options: PassOptions;
  /** How everything stood before. */
  state: EndState;
}

interface Transition {
  readonly kind: AnyKind;
  readonly object: AnyObject;
  readonly variant: SpecVariant;
}

/** Every Nth, and of those as many as asked for, chosen by the seed. */
function sample(all: readonly Transition[], { every = 1, runs = all.length, seed = 1 }: PassOptions): Transition[] {
  const rest = all.filter((_, i) => i % every === 0);
  const random = seededRandom(seed);
  while (rest.length > runs) rest.splice(random.below(rest.length), 1);
  return rest;
}

async function thereAndBack(bench: Bench, { kind, object, variant }: Transition): Promise<void> {
  const { recording, options } = bench;
  const { environment } = recording;
  const what = `${kind.kind} ${object.metadata.name}, ${variant.what}`;
  const before = recording.problems.length;
  const live = (await environment.find(kind, object.metadata.name)) as AnyObject | undefined;
  if (!live) return;
  recording.begins(what);
  const set = (spec: unknown) => {
    const patch = [{ op: "replace", path: "/spec", value: spec }];
    return environment.client.patch(kind, keyOf(live), { json: patch as never }, { fieldManager: EDITOR });
  };
  if (!(await isAccepted(() => set(variant.spec)))) return;
  try {
    await environment.settled();
    await checkStatus(recording, kind, live, what);
  } catch (error) {
    recording.report(`${what}: ${failureText(error)}`);
  }
  recording.did("the spec as it was before");
  const isReverted = await isAccepted(() => set(live["spec"]));
  try {
    await environment.settled();
    const now = await standing(environment, options);
    // What the API does not let go back, such as the size of a volume, stays.
    if (isReverted)
      recording.report(...endStateDifferences(bench.state, now).map((one) => `${what}, and back: ${one}`));
    if (!isReverted || recording.problems.length > before) bench.state = now;
  } catch (error) {
    recording.report(`${what}, and back: ${failureText(error)}`);
  }
}

/** Whether the API server takes a write: what it or a webhook rejects never gets to the operator. */
async function isAccepted(write: () => Promise<unknown>): Promise<boolean> {
  try {
    await write();
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.code >= 400 && error.code < 500) return false;
    throw error;
  }
}

async function checkStatus(recording: Recording, kind: AnyKind, { metadata }: AnyObject, what: string): Promise<void> {
  const now = (await recording.environment.find(kind, metadata.name)) as AnyObject | undefined;
  const { observedGeneration } = (now?.["status"] ?? {}) as { observedGeneration?: number };
  if (observedGeneration === undefined || observedGeneration >= (now?.metadata.generation ?? 0)) return;
  recording.report(`${what}: the status of ${kind.kind} ${metadata.name} is not that of its last generation`);
}
