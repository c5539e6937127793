import type { Client } from "@konverge/client";
import { type AnyObject, type KindRef, type KubeObject, keyOf, readText, type Transport } from "@konverge/core";
import { runScenario } from "../stage/embedded-stage.ts";
import type { OperatorTestEnvironment } from "../stage/operator-stage.ts";
import type { Scenario } from "../stage/stage.ts";
import { AbandonablePlay } from "./abandonable.ts";
import { endState } from "./end-state.ts";
import { failureText, restlessness, type SurvivalOptions } from "./play-to-end.ts";

/** How deletions are explored. */
export interface DeletionRunOptions extends SurvivalOptions {
  /** Of many writes, only every so manieth is tried. Default: 1, all of them. */
  readonly every?: number;
  /** What the operator makes and leaves behind on purpose. */
  readonly kept?: (object: AnyObject) => boolean;
}

/** What was found out by deleting an operator's objects in each phase of their lives. */
export interface DeletionFindings {
  /** After how many writes of the operator there were objects to delete. */
  readonly writes: number;
  readonly runs: number;
  /** Empty, if all is cleaned up whenever the objects go. */
  readonly problems: readonly string[];
}

type Policy = "Background" | "Foreground";

interface DeletionProof {
  readonly scenario: Scenario;
  readonly kind: KindRef<KubeObject>;
  readonly options: DeletionRunOptions;
}

/**
 * Plays a scenario to its end and deletes all objects of a kind: what is left then, and was not made by the operator, is
 * somebody else's and may be left. Then plays it again for each write that the operators make while there are such
 * objects, and deletes them right after it: in each phase of their lives. The scenario is not played on. Nothing else may
 * be left, and the operator must come to rest.
 *
 * Objects go with their dependents in the background and, at every second write, in the foreground.
 */
export async function deletionRuns(
  scenario: Scenario,
  kind: KindRef<KubeObject>,
  options: DeletionRunOptions = {},
): Promise<DeletionFindings> {
  const proof = { scenario, kind, options };
  const { phases, left, made } = await cleanRun(proof);
  const allowed = new Set([...left].filter((key) => !made.has(key)));
  const tried = phases.filter((_, i) => i % (options.every ?? 1) === 0);
  const problems = leftBehind(left, allowed).map((problem) => `deleted at the end: ${problem}`);
  for (const at of tried) {
    const policy = at % 2 === 0 ? "Foreground" : "Background";
    const where = `deleted after write ${at} of ${phases.at(-1)}, in the ${policy.toLowerCase()}`;
    try {
      const told = await deletedAt(at, policy, allowed, proof);
      problems.push(...told.map((problem) => `${where}: ${problem}`));
    } catch (error) {
      problems.push(`${where}: ${failureText(error)}`);
    }
  }
  return { writes: phases.length, runs: tried.length + 1, problems };
}

/** The writes after which there is something to delete, what the operator made, and what is left after all. */
async function cleanRun({ scenario, kind, options }: DeletionProof) {
  const phases: number[] = [];
  let stage: OperatorTestEnvironment | undefined;
  const watching: Scenario = (own) => {
    stage = own as OperatorTestEnvironment;
    return scenario(own);
  };
  let isLiving = true;
  const afterWrite = async (write: number) => {
    if (isLiving && stage && (await objectsOf(stage, stage.cluster!.client, kind)).length > 0) phases.push(write);
  };
  const made = new Set<string>();
  const around = (next: Transport) => noting(next, made);
  const left = await runScenario(watching, options.environment, { afterWrite, around }, async (own) => {
    await own.settled();
    // What is written while it goes belongs to this deletion, not to a phase in which there could be another.
    isLiving = false;
    await deleteAll(own, own.client, kind, "Background");
    await own.settled();
    return leftovers(own, options);
  });
  return { phases, left: left!, made };
}

/** Notes the names of all objects that are created. */
function noting(next: Transport, made: Set<string>): Transport {
  return async (request) => {
    const answer = await next(request);
    if (answer.status !== 201) return answer;
    const body = await readText(answer.body);
    const { kind, metadata } = JSON.parse(body) as AnyObject;
    if (metadata?.name) made.add(`${kind} ${metadata.name}`);
    return { ...answer, body };
  };
}

const leftBehind = (left: ReadonlySet<string>, allowed: ReadonlySet<string>) =>
  [...left].filter((key) => !allowed.has(key)).map((key) => `${key} is left behind`);

async function deletedAt(
  at: number,
  policy: Policy,
  allowed: ReadonlySet<string>,
  proof: DeletionProof,
): Promise<string[]> {
  const { scenario, kind, options } = proof;
  const play = new AbandonablePlay();
  let stage: OperatorTestEnvironment | undefined;
  const playing: Scenario = async (own) => {
    stage = own as OperatorTestEnvironment;
    await play.play(scenario, stage);
    // The last writes come when the scenario has seen enough.
    if (!play.abandoned) await stage.settled();
  };
  const afterWrite = async (write: number) => {
    if (write !== at || !stage) return;
    // Within a request of the operator: whoever waits for something moves the clock on already.
    await deleteAll(stage, stage.cluster!.client, kind, policy);
    play.abandon();
  };
  const told = await runScenario(playing, options.environment, { afterWrite }, async (own) => {
    if (!play.abandoned) return ["that write was never made; two runs of the scenario differ"];
    await own.settled();
    const objects = await own.list(kind);
    const left = await leftovers(own, options);
    return [
      ...objects.map(({ metadata }) => `${kind.kind} ${metadata.name} is still there${heldBy(metadata)}`),
      ...leftBehind(left, allowed),
      ...(await restlessness(own)),
    ];
  });
  return told!;
}

const heldBy = ({ finalizers }: KubeObject["metadata"]) => (finalizers ? `, held by ${finalizers.join(", ")}` : "");

async function objectsOf(
  stage: OperatorTestEnvironment,
  client: Client,
  kind: KindRef<KubeObject>,
): Promise<readonly KubeObject[]> {
  // Before the operator is installed, there are none of that kind.
  const found = await client.list(kind, { namespace: stage.namespace }).catch(() => undefined);
  return found?.items ?? [];
}

async function deleteAll(
  stage: OperatorTestEnvironment,
  client: Client,
  kind: KindRef<KubeObject>,
  propagationPolicy: Policy,
) {
  for (const object of await objectsOf(stage, client, kind)) {
    await client.delete(kind, keyOf(object), { propagationPolicy });
  }
}

/** The names of all objects that are left, but for those that may be. */
async function leftovers(stage: OperatorTestEnvironment, { mask, kept }: DeletionRunOptions): Promise<Set<string>> {
  return new Set((await endState(stage, mask, (object) => !kept?.(object))).keys());
}
