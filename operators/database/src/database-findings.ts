import { isApplied, type ReconcileContext } from "konverge";
import { CronJob, StatefulSet } from "konverge/kinds";
import type { Database } from "./database.ts";
import type { DatabaseSecrets } from "./database-secrets.ts";
import { type Findings, leads } from "./database-status.ts";
import type { DatabaseSteps } from "./database-steps.ts";
import { DatabaseUpgrade } from "./database-upgrade.ts";
import { declaredFindings } from "./declared-status.ts";
import { drillHistory } from "./drill-status.ts";
import type { FleetRollout } from "./fleet-rollout.ts";
import { backupName, podName } from "./names.ts";
import { leadingReport, type ObservedDatabase } from "./observed-database.ts";
import { serverProblem } from "./servers.ts";
import { certificateProblem } from "./tls-certificate.ts";
import { majorChange, upgradeName } from "./version.ts";

/** What findings are made of, besides what was observed and decided. */
export interface FindingsContext {
  /** The StatefulSet as it is applied. */
  readonly draft: StatefulSet;
  readonly volumes: Pick<Findings, "storage" | "atLimit" | "capacity">;
  readonly secrets: DatabaseSecrets;
  readonly fleet: FleetRollout;
}

/** What the status reports: whether the servers are ready, why not, and what is being done. */
export async function findingsOf(
  database: Database,
  observation: ObservedDatabase,
  steps: DatabaseSteps,
  { draft, volumes, secrets, fleet }: FindingsContext,
  context: ReconcileContext,
): Promise<Findings> {
  const { engine, members, stopped, isAsked, outdated } = observation;
  const { metadata } = database;
  const pending = await certificateProblem(database, context);
  const ready = !pending && areReady(observation, steps, draft);
  if (ready && outdated.size === 0) fleet.finish(database);
  const { step, waits } = steps;
  const primary = step.topology.primary || step.topology.upstream || podName(database);
  const names = [primary, ...members.map(({ name }) => name)];
  const problem = ready ? undefined : (pending ?? (await serverProblem(database, names, observation.servers, context)));
  const { declared, secretOf, source } = secrets;
  return {
    ...{ engine, members, stopped, ready, problem, ...steps, ...volumes },
    asked: isAsked,
    update: waits ? "Waiting" : fleet.isUpdating(database) ? "Updating" : undefined,
    lastBackup: context.observed(CronJob, backupName(database))?.status?.lastSuccessfulTime,
    declared: declaredFindings(database, { secret: declared, secretOf, leader: leadingReport(members) }),
    hasSourceSecret: source !== undefined,
    drills: await drillHistory(database, context),
    upgrade: majorChange(database)
      ? (context.cache.get(DatabaseUpgrade, `${metadata.namespace}/${upgradeName(database)}`)?.status ?? {})
      : undefined,
  };
}

/** Whether every server is there, has the newest pod, and one leads; or all have stopped, as they should. */
function areReady(
  { servers, members, stopped, outdated }: ObservedDatabase,
  { step, waits }: DatabaseSteps,
  draft: StatefulSet,
): boolean {
  const isObserved = servers?.status?.observedGeneration === servers?.metadata.generation;
  const areThere = members.every(({ pod }) => (stopped ? !pod : pod?.ready && !pod.ending));
  const isNewest = isApplied(StatefulSet, draft, servers) && isObserved && (outdated.size === 0 || waits);
  return isNewest && areThere && (stopped !== undefined || leads(step.topology, members));
}
