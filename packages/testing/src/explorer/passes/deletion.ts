import type { Client } from "@konverge/client";
import { type AnyObject, type KindRef, type KubeObject, keyOf, readText, type Transport } from "@konverge/core";
import type { OperatorTestEnvironment } from "../../environment/operator-test-environment.ts";
import { runScenario } from "../../environment/run-scenario.ts";
import type { Scenario } from "../../environment/test-environment.ts";
import { endState } from "../end-state.ts";
import { AbandonablePlay } from "./abandonable.ts";
import { failureText, restlessness } from "./idle-operator.ts";
import type { PassOptions, PassResult } from "./pass.ts";

type Policy = "Background" | "Foreground";

interface DeletionRun {
  readonly scenario: Scenario;
  readonly kind: KindRef<KubeObject>;
  readonly options: PassOptions;
}

/**
 * Runs a scenario and then deletes all objects of a kind: what remains and was not created by the operator belongs to others
 * and may remain. Then runs it again for each write that the operators make while there are such objects, and deletes them
 * right after that write; the rest of the scenario is skipped. Nothing else may remain, and the operator must become idle.
 *
 * Deletions propagate in the background and, at every second write, in the foreground.
 */
export async function deletionPass(
  scenario: Scenario,
  kind: KindRef<KubeObject>,
  options: PassOptions = {},
): Promise<PassResult> {
  const run = { scenario, kind, options };
  const { phases, left, made } = await cleanRun(run);
  const allowed = new Set([...left].filter((key) => !made.has(key)));
  const tried = phases.filter((_, i) => i % (options.every ?? 1) === 0);
  const problems = leftBehind(left, allowed).map((problem) => `deleted at the end: ${problem}`);
  for (const at of tried) {
    const policy = at % 2 === 0 ? "Foreground" : "Background";
    const where = `deleted after write ${at} of ${phases.at(-1)}, in the ${policy.toLowerCase()}`;
    try {
      const told = await deletedAt(at, policy, allowed, run);
      problems.push(...told.map((problem) => `${where}: ${problem}`));
    } catch (error) {
      problems.push(`${where}: ${failureText(error)}`);
    }
  }
  return { tried: tried.length, runs: tried.length + 1, problems };
}

/** The writes after which there is something to delete, what the operator made, and what is left after all. */
async function cleanRun({ scenario, kind, options }: DeletionRun) {
  const phases: number[] = [];
  let environment: OperatorTestEnvironment | undefined;
  const watching: Scenario = (own) => {
    environment = own as OperatorTestEnvironment;
    return scenario(own);
  };
  let isLiving = true;
  const afterWrite = async (write: number) => {
    if (isLiving && environment && (await objectsOf(environment, environment.cluster!.client, kind)).length > 0)
      phases.push(write);
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
  run: DeletionRun,
): Promise<string[]> {
  const { scenario, kind, options } = run;
  const play = new AbandonablePlay();
  let environment: OperatorTestEnvironment | undefined;
  const playing: Scenario = async (own) => {
    environment = own as OperatorTestEnvironment;
    await play.play(scenario, environment);
    // The last writes come when the scenario has seen enough.
    if (!play.abandoned) await environment.settled();
  };
  const afterWrite = async (write: number) => {
    if (write !== at || !environment) return;
    // Within a request of the operator: whoever waits for something moves the clock on already.
    await deleteAll(environment, environment.cluster!.client, kind, policy);
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
  environment: OperatorTestEnvironment,
  client: Client,
  kind: KindRef<KubeObject>,
): Promise<readonly KubeObject[]> {
  // Before the operator is installed, there are none of that kind.
  const found = await client.list(kind, { namespace: environment.namespace }).catch(() => undefined);
  return found?.items ?? [];
}

async function deleteAll(
  environment: OperatorTestEnvironment,
  client: Client,
  kind: KindRef<KubeObject>,
  propagationPolicy: Policy,
) {
  for (const object of await objectsOf(environment, client, kind)) {
    await client.delete(kind, keyOf(object), { propagationPolicy });
  }
}

/** The names of all objects that are left, but for those that may be. */
async function leftovers(environment: OperatorTestEnvironment, { mask, kept }: PassOptions): Promise<Set<string>> {
  return new Set((await endState(environment, mask, (object) => !kept?.(object))).keys());
}
