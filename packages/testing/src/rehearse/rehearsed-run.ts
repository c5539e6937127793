import type { Snapshot } from "@konverge/apiserver";
import { timeOf } from "@konverge/cluster";
import type { AnyObject } from "@konverge/core";
import { type EmbeddedTestBackend, embeddedTestBackend } from "../environment/embedded-test-backend.ts";
import { OperatorTestEnvironment } from "../environment/operator-test-environment.ts";
import type { FaultInjector } from "../environment/test-backend.ts";
import type { StartableOperator } from "../environment/test-environment.ts";
import { type EndState, endStateOf } from "../explorer/end-state.ts";
import { type Effect, Effects } from "./effects.ts";
import { type EffectiveWrite, OperatorWrites, type RefusedWrite } from "./operator-writes.ts";
import { stateCollections } from "./stored-object.ts";

/** What a version of an operator did to a state, and what came of it. */
export interface RehearsedRun {
  readonly writes: readonly EffectiveWrite[];
  readonly refused: readonly RefusedWrite[];
  readonly effects: readonly Effect[];
  /** By verb, without leases, events and access reviews. */
  readonly requests: Readonly<Record<string, number>>;
  /** What happened in the last minutes, in which an operator without work is idle. */
  readonly idle: { readonly ms: number; readonly requests: number; readonly writes: readonly EffectiveWrite[] };
  /** It wrote so often that it was stopped. */
  readonly isHalted: boolean;
  readonly warnings: readonly string[];
  /** Writes at which a crash can be tried. */
  readonly steps: number;
  /** What differs from the start: objects as text, and keys of deleted ones. */
  readonly end: EndState;
  /** Why the operator could not be run, if it could not. */
  readonly failure?: string;
}

/** What a run begins with. */
export interface RehearsalStart {
  readonly state: Snapshot;
  readonly objects: number;
  readonly seed: number;
  /** Settings of the operator. */
  readonly settings?: Readonly<Record<string, string>>;
}

const NAMESPACE = "konverge-rehearsal";
/** A step of virtual time, in milliseconds. */
const STEP = 5_000;
/** An operator that brings nothing new for this long has done its work, or goes round in circles. */
const QUIET = 120_000;
/** What has not ended by then goes on. */
const LONGEST = 30 * 60_000;
/** And then it is watched for this long. */
const IDLE = 5 * 60_000;
/** Writes of an operator without end, for a state without objects, and for each object more. */
const MOST_WRITES = { always: 2_000, perObject: 20 };

/** A cluster with a state, on virtual time. */
async function begin({ state, seed }: Pick<RehearsalStart, "state" | "seed">): Promise<EmbeddedTestBackend> {
  const hasNodes = (state.collections.get("/nodes")?.size ?? 0) > 0;
  const start = timeOf(state);
  return embeddedTestBackend({
    state,
    seed,
    namespace: NAMESPACE,
    strictImages: false,
    ...(hasNodes && { nodes: [] }),
    ...(start !== undefined && { start: start + 1_000 }),
  });
}

/** The state when the cluster's controllers have nothing more to do: what they do is not the operator's doing. */
export async function settledStart(state: Snapshot, seed: number): Promise<RehearsalStart> {
  const backend = await begin({ state, seed });
  try {
    const objects = [...state.collections.values()].reduce((sum, { size }) => sum + size, 0);
    await backend.settled(() => 0);
    return { state: backend.cluster.snapshot(), objects, seed: seed + 1 };
  } finally {
    await backend.end();
  }
}

/** Runs an operator on a state until it is idle, on virtual time. */
export async function rehearsedRun(
  operator: StartableOperator | undefined,
  start: RehearsalStart,
  faults: Pick<FaultInjector, "crashAt"> = {},
): Promise<RehearsedRun> {
  const backend = await begin(start);
  const { cluster } = backend;
  const most = MOST_WRITES.always + MOST_WRITES.perObject * start.objects;
  const writes = new OperatorWrites(cluster, { ignored: `${NAMESPACE}-system`, most });
  const effects = new Effects(cluster);
  const environment = new OperatorTestEnvironment(backend, {
    ...faults,
    around: (transport) => writes.transport(transport),
  });
  let failure: string | undefined;
  let idleFrom = { at: 0, requests: 0, writes: 0 };
  try {
    if (operator) await environment.start(operator, { settings: start.settings ?? {} });
    await untilQuiet(environment, writes, effects);
    idleFrom = { at: writes.now, requests: writes.total, writes: writes.effective.length };
    if (operator && !writes.isHalted) await follow(environment, effects, IDLE);
  } catch (error) {
    failure = error instanceof Error ? error.message : String(error);
  }
  effects.end();
  const end = endOf(backend, start.state);
  await environment.end().catch(() => {});
  await backend.end();
  return {
    writes: writes.effective,
    refused: writes.refused,
    effects: effects.found,
    requests: writes.requests,
    idle: {
      ms: writes.now - idleFrom.at,
      requests: writes.total - idleFrom.requests,
      writes: writes.effective.slice(idleFrom.writes),
    },
    isHalted: writes.isHalted,
    warnings: environment.warnings,
    steps: environment.steps,
    end,
    ...(failure !== undefined && { failure }),
  };
}

async function untilQuiet(
  environment: OperatorTestEnvironment,
  writes: OperatorWrites,
  effects: Effects,
): Promise<void> {
  let [seen, since] = ["", 0];
  for (let passed = 0; passed < LONGEST && !writes.isHalted; passed += STEP) {
    const now = `${writes.refusals} ${effects.states}`;
    if (now !== seen) [seen, since] = [now, passed];
    else if (passed - since >= QUIET) return;
    await follow(environment, effects, STEP);
  }
}

async function follow(environment: OperatorTestEnvironment, effects: Effects, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += STEP) {
    await environment.advance(STEP);
    effects.follow();
  }
}

/** What differs from the start, in a form that two runs share if they end alike. */
function endOf({ cluster }: EmbeddedTestBackend, start: Snapshot): EndState {
  const changed: AnyObject[] = [];
  const deleted: [string, string][] = [];
  for (const storage of stateCollections(cluster)) {
    const [then, now] = [start.collections.get(storage), cluster.server.store.collection(storage)];
    for (const { key, revision, text } of now.scan("")) {
      if (then?.get(key)?.revision !== revision) changed.push(JSON.parse(text) as AnyObject);
    }
    for (const { key } of then?.scan("") ?? []) if (!now.get(key)) deleted.push([`${storage} ${key}`, "deleted"]);
  }
  const nodes = changed.filter(({ kind }) => kind !== "Node");
  return new Map([...endStateOf(nodes), ...deleted]);
}
