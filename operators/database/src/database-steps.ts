import type { ReconcileContext } from "konverge";
import type { ConfigMap } from "konverge/kinds";
import { Database } from "./database.ts";
import { configurationDigest } from "./database-children.ts";
import { fencedRollout } from "./fence.ts";
import type { FleetRollout } from "./fleet-rollout.ts";
import { decide, restartFor } from "./leader-decision.ts";
import type { Step } from "./leadership.ts";
import type { Leases } from "./leases.ts";
import type { ObservedDatabase } from "./observed-database.ts";
import { type ParameterStep, parameterStep } from "./parameter-rollout.ts";
import { withSource } from "./replica.ts";
import { heldForRestore } from "./restore-hold.ts";
import { type RolloutStep, rolloutStep } from "./rollout.ts";
import { labelPods, removePod } from "./servers.ts";
import { heldTopology } from "./topology.ts";

/** What is done next with the servers of a Database. */
export interface DatabaseSteps {
  /** Which server leads. */
  readonly step: Step;
  /** Which pod is replaced. */
  readonly rollout: RolloutStep;
  readonly parameters: ParameterStep;
  /** Its pods are outdated, and stay so until it is this Database's turn. */
  readonly waits: boolean;
}

/** Decides which server leads, which pod is replaced, and which server reads or restarts for new parameters. */
export async function decideSteps(
  database: Database,
  observation: ObservedDatabase,
  { config, fleet, leases }: { readonly config: ConfigMap; readonly fleet: FleetRollout; readonly leases: Leases },
  context: ReconcileContext,
): Promise<DatabaseSteps> {
  const { stopped, servers, written, members, outdated, fenced } = observation;
  const due: RolloutStep =
    stopped || written.operation
      ? { step: "none" }
      : fencedRollout(rolloutStep(members, written.primary, outdated), fenced);
  const all = context.cache.list(Database);
  const rollout = fleet.step(due, { database, servers, members, all, now: context.clock.now() });
  const waits = rollout.step === "wait" && rollout.isTurn === true;
  const held = withSource(database, heldTopology(written, heldForRestore(database) !== undefined), members);
  const decided = stopped
    ? { topology: held }
    : await decide(database, held, members, { rollout, leases, fenced }, context);
  const isReplacing = rollout.step !== "none" && !waits;
  const parameters: ParameterStep = isReplacing
    ? { step: "none" }
    : parameterStep(members, written.primary, configurationDigest(config));
  return { step: restartFor(decided, parameters, members, context), rollout, parameters, waits };
}

/** Removes pods that must not write any more or are outdated, and labels the others as what they are. */
export async function carryOut(
  database: Database,
  { written, members }: ObservedDatabase,
  { step, rollout }: DatabaseSteps,
  context: ReconcileContext,
): Promise<void> {
  if (step.remove) await removePod(database, step.remove, context);
  await labelPods(database, written, step.topology, members, context);
  if (rollout.step !== "replace") return;
  await removePod(database, rollout, context);
  context.events.normal("ServerReplaced", `${rollout.name} ${rollout.why}`);
}
