import type { AnyObject, Transport } from "@konverge/core";
import type { AnyKind } from "@konverge/schema";
import {
  type EmbeddedTestBackend,
  embeddedTestBackend,
  type TestEnvironmentOptions,
} from "../environment/embedded-test-backend.ts";
import { OperatorTestEnvironment } from "../environment/operator-test-environment.ts";
import type { Scenario, StartableOperator } from "../environment/test-environment.ts";
import { inPlace } from "../external/external-system.ts";
import { ClusterFollower } from "./cluster-follower.ts";
import { endStateOf, objectsAtEnd } from "./end-state.ts";
import { ExternalPlane } from "./external-plane.ts";
import type { Fault } from "./fault.ts";
import { FaultPlane } from "./fault-plane.ts";
import { throwIfReached } from "./limits.ts";
import { observedUser, type UserWait } from "./observed-user.ts";
import type { ExploredRun, IdleActivity, Invariant, RunFailure } from "./oracle.ts";
import { unansweredWrites } from "./unanswered-writes.ts";

/** How a scenario is run by the explorer. */
export interface RunOptions {
  readonly environment?: TestEnvironmentOptions;
  /** Removes from an object what may differ between two correct runs; undefined if the whole object may. */
  readonly mask?: (object: AnyObject) => AnyObject | undefined;
  readonly invariants?: readonly Invariant[];
  /** Why the exploration has to end now, if it has to: then the run throws {@link ExplorationStopped}. */
  readonly reached?: () => string | undefined;
}

/** A run, and what was started in it. */
export interface PlayedRun extends ExploredRun {
  readonly operators: readonly StartableOperator[];
  readonly kinds: readonly AnyKind[];
}

/** Virtual milliseconds in which an operator that has nothing to do must be idle. */
const IDLE_MS = 5 * 60_000;
/** How often that begins again because something else changed, such as a Deployment whose progress deadline passed. */
const IDLE_TRIES = 3;
/** A container takes this long to be pulled and started, then to be ready, and its pod to be removed: others act meanwhile. */
const SLOW_CONTAINERS = { startDelay: 2_000, warmUp: 5_000, tearDown: 1_000 };
/** Time travel needs the states of the whole run. */
const HISTORY_MS = 24 * 3_600_000;
/** A scenario that needs more requests than this is one with a hot loop. */
const MOST_REQUESTS = 4_000;

/** Runs a scenario on a new embedded cluster with these faults, and records everything that oracles ask for. */
export async function exploredRun(
  scenario: Scenario,
  faults: readonly Fault[],
  seed: number,
  options: RunOptions = {},
): Promise<PlayedRun> {
  const slow = { history: HISTORY_MS, containers: SLOW_CONTAINERS };
  const backend = await embeddedTestBackend({ ...slow, ...options.environment, seed });
  const follower = new ClusterFollower(backend.cluster, backend.namespace, options.invariants);
  const plane = new FaultPlane(follower, faults, MOST_REQUESTS);
  const external = new ExternalPlane(
    {
      clock: backend.clock,
      changes: follower.changes,
      injected: plane.injected,
      note: (entry) => plane.note(entry),
      state: () => follower.state(),
    },
    () => environment.externalSystems,
    faults,
  );
  follower.outside = () => external.state();
  const denied: string[] = [];
  const environment: OperatorTestEnvironment = new OperatorTestEnvironment(backend, {
    interpose: (transport, process) => plane.interpose(stoppable(transport, options.reached), process),
    skew: () => plane.skew,
    externalCall: (call, send, process) => external.call(call, send, process),
    denied: (message) => denied.push(messageOf(message)),
  });
  const operators: StartableOperator[] = [];
  const unhandled: string[] = [];
  const onUnhandled = (reason: unknown) => unhandled.push(reason instanceof Error ? reason.message : String(reason));
  process.on("unhandledRejection", onUnhandled);
  let failure: RunFailure | undefined;
  let idle: IdleActivity | undefined;
  let lastWait: UserWait | undefined;
  let holds = false;
  let objects: AnyObject[] = [];
  let complete = false;
  let prematureReadiness: readonly string[] = [];
  try {
    const observed = observedUser(
      environment,
      plane,
      follower,
      (operator) => operators.push(operator),
      options.reached,
      (wait) => {
        lastWait = wait;
      },
    );
    await inPlace(environment.externalSystems, () => scenario(observed));
    await environment.advance(plane.downFor);
    await environment.settled();
    await inPlace(environment.externalSystems, () => catchUp(environment, lastWait));
    if (await plane.atEnd()) await environment.settled();
    idle = await idleActivity(environment, plane, follower);
    holds = await inPlace(environment.externalSystems, () => isStill(lastWait));
    complete = true;
  } catch (error) {
    failure = failureOf(error);
  }
  try {
    throwIfReached(options.reached);
    objects = await objectsAtEnd(environment);
    if (complete) follower.checkEventually();
    else follower.follow();
    prematureReadiness = environment.prematureReadiness;
  } finally {
    process.off("unhandledRejection", onUnhandled);
    follower.stop();
    await end(environment, backend);
  }
  if (plane.halted) failure = { type: "restless", message: `it made more than ${MOST_REQUESTS} requests` };
  return {
    seed,
    faults: plane.injected,
    timeline: plane.timeline,
    changes: follower.changes,
    endState: complete ? endStateOf(objects, options.mask) : undefined,
    objects,
    idle,
    failure,
    unhandled,
    denied,
    violations: follower.violations,
    prematureReadiness,
    exits: environment.exits,
    groups: [...new Set(environment.kinds.map(({ group }) => group))],
    operators,
    kinds: environment.kinds,
    external: external.atEnd(),
    ...(lastWait && { lastWait: { what: lastWait.what, holds } }),
  };
}

/** An impatient user comes back in the end: what was not waited for may be due later than all else. */
async function catchUp(environment: OperatorTestEnvironment, wait: UserWait | undefined): Promise<void> {
  if (!wait?.isSkipped || (await isStill(wait))) return;
  // That it never comes is judged by what there is at the end.
  await environment.until(wait.what, () => isStill(wait)).catch(() => {});
  await environment.settled();
}

/** Whether what the user waited for is true; a condition that cannot be checked any more is not. */
async function isStill(wait: UserWait | undefined): Promise<boolean> {
  try {
    return (await wait?.condition()) === true;
  } catch {
    return false;
  }
}

/** Once the exploration has to end, no request is answered: what an operator does in a hot loop would go on for minutes. */
function stoppable(transport: Transport, reached: RunOptions["reached"]): Transport {
  return reached ? (request) => (reached() === undefined ? transport(request) : new Promise(() => {})) : transport;
}

async function idleActivity(
  environment: OperatorTestEnvironment,
  plane: FaultPlane,
  follower: ClusterFollower,
): Promise<IdleActivity> {
  let wasDisturbed = false;
  for (let tries = 1; ; tries++) {
    follower.follow();
    const seen = follower.changes.length;
    const faults = plane.injected.length;
    const isRetrying = unansweredWrites(plane.timeline).length > 0;
    const before = { writes: plane.writes, requests: plane.requests, warnings: environment.warnings.length };
    await environment.advance(IDLE_MS);
    follower.follow();
    // A client that fights over a field changes it again every time; a fault happens once.
    const isDisturbed = plane.injected.length > faults;
    const isLate = isDisturbed || wasDisturbed || isRetrying;
    const hasReason = isLate || follower.changes.slice(seen).some(({ by }) => by !== "operator");
    // What a fault at the end of this time leads to is seen in the next, and so is the retry of a write.
    wasDisturbed = isDisturbed;
    if (hasReason && tries < IDLE_TRIES) continue;
    return {
      ms: IDLE_MS,
      writes: plane.writes - before.writes,
      requests: plane.requests - before.requests,
      warnings: environment.warnings.slice(before.warnings),
    };
  }
}

async function end(environment: OperatorTestEnvironment, backend: EmbeddedTestBackend): Promise<void> {
  await environment.end();
  await backend.end();
}

function failureOf(error: unknown): RunFailure {
  const message = error instanceof Error ? error.message : String(error);
  if (message.startsWith("it never came true that")) return { type: "wait", message };
  return { type: message.startsWith("it does not settle") ? "restless" : "scenario", message };
}

/** The message of a Status object. */
function messageOf(status: string): string {
  try {
    return (JSON.parse(status) as { message?: string }).message ?? status;
  } catch {
    return status;
  }
}
