/**
 * A new version of the operator may render other pods for every Database. They are not all replaced at once.
 *
 * Guarantees
 * - One Database at a time replaces the pods of servers that run, the least important first.
 * - The next one begins when all servers of the last one are ready. One that fails holds up all others until it is repaired or deleted.
 * - What a user requests is not held up.
 *
 * Assumptions
 * - One process of the operator is active. The next one finds in the status whose turn it is.
 */
import { createHash } from "node:crypto";
import { isApplied, keyOf } from "konverge";
import { StatefulSet } from "konverge/kinds";
import type { Database } from "./database.ts";
import { RESTART } from "./database-children.ts";
import { isServing, type Member } from "./leadership.ts";
import type { RolloutStep } from "./rollout.ts";

/** On a Database: a number. Those with a lower one are updated first. */
export const IMPORTANCE = "databases.example.com/importance";

/** On a StatefulSet: what was requested when its pods were last rendered, and whose change they were rendered for. */
const REQUESTED = "databases.example.com/requested";
const CHANGED_BY = "databases.example.com/changed-by";

/** Milliseconds in which a new process learns of all Databases that wait. */
const ORIENTATION = 30_000;

/** The servers, marked with whose change their pods are rendered for. */
export function markedServers<Draft extends StatefulSet>(
  database: Database,
  draft: Draft,
  live: StatefulSet | undefined,
): Draft {
  const requested = requestedPods(database);
  const known = live?.metadata.annotations ?? {};
  const replicas = live?.spec?.replicas;
  const isRendered = live && isApplied(StatefulSet, { ...draft, spec: { ...draft.spec!, replicas: replicas! } }, live);
  const isOwn = known[REQUESTED] === undefined || known[REQUESTED] === requested;
  const isPending = known[CHANGED_BY] === "operator" && !hasNewestPods(live);
  const by = live && isOwn && (isPending || !isRendered) ? "operator" : "user";
  const annotations = { ...draft.metadata.annotations, [REQUESTED]: requested, [CHANGED_BY]: by };
  return { ...draft, metadata: { ...draft.metadata, annotations } };
}

/** Whether all pods are as they were last rendered: whose change that was matters no more. */
function hasNewestPods(live: StatefulSet | undefined): boolean {
  const { observedGeneration, replicas, updatedReplicas = 0 } = live?.status ?? {};
  return observedGeneration === live?.metadata.generation && replicas !== undefined && updatedReplicas >= replicas;
}

/** A digest of all that a user requests and that pods can depend on. */
function requestedPods({ spec, metadata }: Database): string {
  const {
    size,
    storage,
    synchronous,
    failover,
    switchoverTo,
    parameters,
    credentials,
    pooler,
    deletionPolicy,
    ...rest
  } = spec;
  const text = JSON.stringify([rest, metadata.annotations?.[RESTART] ?? ""]);
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/** Whose turn it is. */
export class FleetRollout {
  #startedAt: number | undefined;
  #holder: string | undefined;

  /** The step that a Database makes now: what the operator's own change asks for waits for its turn. */
  step(rollout: RolloutStep, { database, servers, members, all, now }: FleetSituation): RolloutStep {
    const isOwn = servers?.metadata.annotations?.[CHANGED_BY] === "operator";
    if (!isOwn || (rollout.step !== "replace" && rollout.step !== "handOver")) return rollout;
    // A server that does not run loses nothing.
    const isDown = rollout.step === "replace" && members.some((one) => one.name === rollout.name && !isServing(one));
    if (isDown) return rollout;
    const message = this.#waitsFor(database, [...all], now);
    return message === undefined ? rollout : { step: "wait", message, isTurn: true };
  }

  /** Ends the turn of a Database whose servers are all of the newest revision and ready. */
  finish(database: Database): void {
    if (this.#holder === keyOf(database)) this.#holder = undefined;
  }

  /** Whether it is the turn of a Database. */
  isUpdating(database: Database): boolean {
    return this.#holder === keyOf(database);
  }

  #waitsFor(database: Database, all: readonly Database[], now: number): string | undefined {
    const key = keyOf(database);
    this.#startedAt ??= now;
    if (!all.some((one) => keyOf(one) === this.#holder)) this.#holder = undefined;
    const updating = all.find(({ status }) => status?.update === "Updating");
    this.#holder ??= updating && keyOf(updating);
    if (this.#holder === key) return undefined;
    if (this.#holder !== undefined)
      return `waits for ${this.#holder}, which gets the pods of a new version of the operator`;
    if (now - this.#startedAt < ORIENTATION)
      return "waits for its turn to get the pods of a new version of the operator";
    const waiting = all.filter((one) => keyOf(one) === key || one.status?.update === "Waiting");
    const [next] = waiting.sort((a, b) => importanceOf(a) - importanceOf(b) || (keyOf(a) < keyOf(b) ? -1 : 1));
    if (next && keyOf(next) !== key)
      return `waits for ${keyOf(next)}, which gets the pods of a new version of the operator first`;
    this.#holder = key;
    return undefined;
  }
}

/** What a turn depends on. */
export interface FleetSituation {
  readonly database: Database;
  readonly servers: StatefulSet | undefined;
  readonly members: readonly Member[];
  /** All Databases. */
  readonly all: Iterable<Database>;
  readonly now: number;
}

function importanceOf({ metadata }: Database): number {
  const number = Number(metadata.annotations?.[IMPORTANCE] ?? 0);
  return Number.isNaN(number) ? 0 : number;
}
