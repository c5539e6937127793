import type { Client } from "@konverge/client";
import {
  type AnyObject,
  type KindRef,
  type KubeObject,
  keyOf,
  parseApiVersion,
  readText,
  type Transport,
} from "@konverge/core";
import type { OperatorTestEnvironment } from "../../environment/operator-test-environment.ts";
import type { Scenario } from "../../environment/test-environment.ts";
import { endStateOf, objectsAtEnd } from "../end-state.ts";
import { inPart } from "../part.ts";
import { AbandonablePlay } from "./abandonable.ts";
import { failureText, restlessness } from "./idle-operator.ts";
import type { PassOptions, PassProblem, PassResult } from "./pass.ts";
import { type Recording, recorded } from "./recording.ts";

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
  const clean = await cleanRun(run);
  const { phases, allowed } = clean.result;
  const chosen = phases.filter((_, i) => i % (options.every ?? 1) === 0);
  const tried = inPart(chosen, options.part);
  const problems = [...clean.problems];
  for (const at of tried) {
    const policy = at % 2 === 0 ? "Foreground" : "Background";
    const where = `deleted after write ${at} of ${phases.at(-1)}, in the ${policy.toLowerCase()}`;
    problems.push(...(await deletedAt(at, policy, allowed, where, run)));
  }
  return { tried: tried.length, runs: tried.length + 1, problems };
}

/** The writes after which there is something to delete, and what may be left after all: what the operator has not made. */
async function cleanRun({ scenario, kind, options }: DeletionRun) {
  const phases: number[] = [];
  let environment: OperatorTestEnvironment | undefined;
  let isLiving = true;
  const afterWrite = async (write: number) => {
    if (isLiving && environment && (await objectsOf(environment, environment.cluster!.client, kind)).length > 0)
      phases.push(write);
  };
  const made = new Set<string>();
  const around = (next: Transport) => noting(next, made);
  const played = ({ environment: own, observed }: Recording) => {
    environment = own;
    return scenario(observed);
  };
  return recorded(played, options, { afterWrite, around }, async (recording) => {
    const { environment: own } = recording;
    await own.settled();
    // What is written while it goes belongs to this deletion, not to a phase in which there could be another.
    isLiving = false;
    recording.did(`all ${kind.plural} are deleted`);
    await deleteAll(own, own.client, kind, "Background");
    await own.settled();
    const left = await leftovers(own, kind, options);
    const allowed = new Set([...left].filter((key) => !made.has(key)));
    const problems = [...leftBehind(left, allowed), ...recording.externalLeaks()];
    recording.report(...problems.map((problem) => `deleted at the end: ${problem}`));
    return { phases, allowed };
  });
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
  where: string,
  { scenario, kind, options }: DeletionRun,
): Promise<readonly PassProblem[]> {
  const play = new AbandonablePlay();
  let recording: Recording | undefined;
  const playing = async (own: Recording) => {
    recording = own;
    try {
      await play.play(scenario, own.observed);
      // The last writes come when the scenario has seen enough.
      if (!play.abandoned) await own.environment.settled();
    } catch (error) {
      own.report(`${where}: ${failureText(error)}`);
    }
  };
  const afterWrite = async (write: number) => {
    if (write !== at || !recording) return;
    const { environment } = recording;
    recording.did(`all ${kind.plural} are deleted, in the ${policy.toLowerCase()}`);
    // Within a request of the operator: whoever waits for something moves the clock on already.
    await deleteAll(environment, environment.cluster!.client, kind, policy);
    play.abandon();
  };
  const { problems } = await recorded(playing, options, { afterWrite }, async (own) => {
    const { environment } = own;
    if (own.problems.length > 0) return;
    if (!play.abandoned) return own.report(`${where}: that write was never made; two runs of the scenario differ`);
    try {
      await environment.settled();
      const objects = await environment.list(kind);
      const left = await leftovers(environment, kind, options);
      const problems = [
        ...objects.map(({ metadata }) => `${kind.kind} ${metadata.name} is still there${heldBy(metadata)}`),
        ...leftBehind(left, allowed),
        ...own.externalLeaks(),
        ...(await restlessness(environment)),
      ];
      own.report(...problems.map((problem) => `${where}: ${problem}`));
    } catch (error) {
      own.report(`${where}: ${failureText(error)}`);
    }
  });
  return problems;
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

/** The names of all objects that are left, but for those that may be: some are kept, and others have an owner that stays. */
async function leftovers(
  environment: OperatorTestEnvironment,
  kind: KindRef<KubeObject>,
  { mask, kept }: PassOptions,
): Promise<Set<string>> {
  const objects = await objectsAtEnd(environment);
  const isDeleted = ({ kind: name, apiVersion = "", metadata }: KubeObject) =>
    metadata.deletionTimestamp !== undefined ||
    (name === kind.kind && parseApiVersion(apiVersion).group === kind.group);
  const living = new Set(objects.filter((object) => !isDeleted(object)).map(({ metadata }) => metadata.uid));
  const isOwned = ({ metadata }: KubeObject) =>
    metadata.ownerReferences?.some(({ uid }) => living.has(uid)) || living.has(metadata.labels?.[OWNER_UID]);
  return new Set(endStateOf(objects, mask, (object) => !kept?.(object) && !isOwned(object)).keys());
}

/** The label of a child that an owner reference cannot reach. */
const OWNER_UID = "konverge.dev/owner-uid";
