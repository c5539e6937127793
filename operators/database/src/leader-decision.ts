import { type ReconcileContext, watchKind } from "konverge";
import { Node, Pod } from "konverge/kinds";
import { valueChanged } from "konverge/predicates";
import { durationMs } from "konverge/time";
import { adoptionStep, findsEarlierVolumes } from "./adoption.ts";
import type { Database } from "./database.ts";
import { allowsDataLoss } from "./failover-policy.ts";
import { fencedStep } from "./fence.ts";
import { isForsaken, isServing, type Member, nextStep, type Step } from "./leadership.ts";
import type { Leases } from "./leases.ts";
import { type ParameterStep, withRestart } from "./parameter-rollout.ts";
import { parseConfirming } from "./quorum.ts";
import { followingStep } from "./replica.ts";
import { followedBy } from "./replica-source.ts";
import type { RolloutStep } from "./rollout.ts";
import { liveMember } from "./servers.ts";
import type { Topology } from "./topology.ts";

/** Milliseconds after which servers that are about to restart or to read their parameters are queried again. */
const RESTARTING = 2_000;

/** A cordoned node is about to be drained: its primary leads elsewhere before its pod is evicted. */
export const cordonedNodes = watchKind<Node, Database>(Node, {
  references: ({ status }) => (status?.servers ?? []).flatMap(({ node }) => node ?? []),
  when: valueChanged(({ spec }) => spec?.unschedulable),
});

/** With fewer standbys than must confirm nothing could be written at all. */
export const synchronousOf = ({ spec }: Database) => Math.min(spec.synchronous, spec.instances - 1);

/** Which server should be the primary, and the next step toward that. */
export async function decide(
  database: Database,
  topology: Topology,
  members: readonly Member[],
  ways: { readonly rollout: RolloutStep; readonly leases: Leases; readonly fenced: readonly string[] },
  context: ReconcileContext,
): Promise<Step> {
  const { spec, status, metadata } = database;
  const { rollout, leases } = ways;
  const fenced = fencedStep({ topology, members }, ways.fenced);
  if (fenced) return fenced;
  if (topology.adopting || findsEarlierVolumes(topology, members)) {
    const adopted = adoptionStep(database, { topology, members });
    // What follows another Database must not lead for a moment.
    if (adopted.topology.adopting) return adopted;
    return { ...adopted, topology: { ...adopted.topology, ...followedBy(database) } };
  }
  if (topology.follows !== undefined) return following(database, topology, members, rollout, context);
  const { operation } = topology;
  const isFencing = operation?.kind === "failover" && operation.fence === undefined;
  const known = await Promise.all(
    members.map((one) => (isFencing && one.name === operation.from ? liveMember(database, one, context) : one)),
  );
  const required = synchronousOf(database);
  const names = members.map(({ name }) => name).filter((name) => name !== (operation?.from ?? topology.primary));
  const lost = Date.parse(status?.primaryLostSince ?? "");
  // A server that is no member any more can still receive from the old primary.
  const areAlone = !context.cache
    .list(Pod, metadata.namespace)
    .some(
      ({ metadata: { name, labels } }) =>
        labels?.["database-name"] === metadata.name && !known.some((one) => one.name === name),
    );
  const forsaken = areAlone && isForsaken({ topology, members: known });
  const key = `${metadata.namespace}/${metadata.name}`;
  return nextStep({
    topology,
    members: known,
    confirming: [parseConfirming(status?.confirming), required > 0 ? { required, names } : undefined],
    delay: durationMs(spec.failover?.delay ?? "30s"),
    allowDataLoss: allowsDataLoss(database),
    switchoverTo: leaderWanted(database, topology, members, rollout) ?? leaderElsewhere(topology, members, context),
    lostSince: Number.isNaN(lost) ? undefined : lost,
    now: context.clock.now(),
    selfFencing: status?.selfFencing,
    forsakenFor: leases.forsakenFor(key, topology, forsaken, context.clock.monotonic()),
  });
}

/** The same of a Database that follows another one. */
function following(
  database: Database,
  topology: Topology,
  members: readonly Member[],
  rollout: RolloutStep,
  context: ReconcileContext,
): Step {
  const { spec, status } = database;
  const lost = Date.parse(status?.primaryLostSince ?? "");
  return followingStep({
    topology,
    members,
    delay: durationMs(spec.failover?.delay ?? "30s"),
    switchoverTo: leaderWanted(database, topology, members, rollout) ?? leaderElsewhere(topology, members, context),
    lostSince: Number.isNaN(lost) ? undefined : lost,
    now: context.clock.now(),
  });
}

/**
 * Which server should be the primary, if another than now: because of a switchover, because it has to stop, or because
 * it is outdated.
 */
function leaderWanted(
  { spec, status, metadata }: Database,
  { primary }: Topology,
  members: readonly Member[],
  rollout: RolloutStep,
): string | undefined {
  if (indexOf(primary) >= spec.instances) {
    const heir = members.find(({ name, report }) => indexOf(name) < spec.instances && report?.streaming);
    return heir?.name ?? `${metadata.name}-0`;
  }
  if (spec.switchoverTo !== undefined && spec.switchoverTo !== status?.lastSwitchover) return spec.switchoverTo;
  return rollout.step === "handOver" ? rollout.to : undefined;
}

/** A standby to lead in place of a primary whose node is cordoned. */
function leaderElsewhere(
  { primary }: Topology,
  members: readonly Member[],
  { cache }: ReconcileContext,
): string | undefined {
  const isCordoned = ({ pod }: Member) =>
    pod?.node !== undefined && cache.get(Node, pod.node)?.spec?.unschedulable === true;
  const leader = members.find(({ name }) => name === primary);
  if (!leader || !isCordoned(leader)) return undefined;
  const canLead = (one: Member) =>
    one !== leader && isServing(one) && one.report?.streaming === true && !isCordoned(one);
  return members.find(canLead)?.name;
}

/** Restarts the server whose turn it is, unless the primary is about to be another. */
export function restartFor(
  step: Step,
  due: ParameterStep,
  members: readonly Member[],
  { clock, events }: ReconcileContext,
): Step {
  const { operation, prepared, restart } = step.topology;
  if (operation || prepared) return step;
  const topology = withRestart(step.topology, due, members, clock.now());
  if (topology.restart && topology.restart.since !== restart?.since && due.step === "restart") {
    const reasons = due.pending.get(due.name)?.join(", ");
    events.normal("ServerRestarts", `${due.name} restarts for new values of ${reasons}`);
  }
  if (!topology.restart && (due.step === "none" || due.step === "reject")) return { ...step, topology };
  return { ...step, topology, after: Math.min(step.after ?? RESTARTING, RESTARTING) };
}

/** The number at the end of a pod's name. */
export function indexOf(name: string): number {
  const [, number] = /-(\d+)$/.exec(name) ?? [];
  return number === undefined ? 0 : Number(number);
}
