import type { ReconcileContext } from "konverge";
import type { ConfigMap, PersistentVolumeClaim, StatefulSet } from "konverge/kinds";
import { backupsFor } from "./backup.ts";
import { isOfOneNode } from "./backup-volume.ts";
import { passwordDigest } from "./credentials.ts";
import type { Database } from "./database.ts";
import { servicesFor, statefulSetFor } from "./database-children.ts";
import type { DatabaseSecrets } from "./database-secrets.ts";
import type { DatabaseSteps } from "./database-steps.ts";
import { brokenServers, disruptionBudgetFor } from "./disruption-budget.ts";
import { markedServers } from "./fleet-rollout.ts";
import { synchronousOf } from "./leader-decision.ts";
import type { ObservedDatabase } from "./observed-database.ts";
import { podMonitorsFor } from "./pod-monitor.ts";
import { poolerFor } from "./pooler.ts";
import { scriptsFor } from "./scripts.ts";
import type { tlsChildren } from "./server-tls.ts";
import { hasSuperuserAccess } from "./superuser.ts";
import { certificatesFor } from "./tls-certificate.ts";
import { topologyFor } from "./topology.ts";
import { isArchived } from "./wal-archive.ts";

/** The StatefulSet of the servers. */
export function serversFor(
  database: Database,
  { engine, servers, stopped, count }: ObservedDatabase,
  backups: PersistentVolumeClaim | undefined,
) {
  const claimed = servers?.spec?.volumeClaimTemplates?.[0]?.spec?.resources?.requests?.["storage"];
  const together = isArchived(database) && isOfOneNode(database, backups);
  const rendered = statefulSetFor(database, engine, { replicas: stopped ? 0 : count, claimed, together });
  return markedServers(database, rendered, servers);
}

/** What the children of a Database are made of, besides what was observed and decided. */
export interface DescriptionContext {
  readonly config: ReturnType<typeof ConfigMap.draft>;
  readonly draft: ReturnType<typeof StatefulSet.draft>;
  readonly secrets: DatabaseSecrets;
  readonly certificates: Awaited<ReturnType<typeof tlsChildren>>;
  /** The volume of the backups, if it is there. */
  readonly backups: PersistentVolumeClaim | undefined;
}

/** All children of a Database. */
export function childrenOf(
  database: Database,
  { engine, count, members, fenced }: ObservedDatabase,
  { step }: DatabaseSteps,
  { config, draft, secrets, certificates, backups }: DescriptionContext,
  { clock }: ReconcileContext,
) {
  const { credentials, application, declared } = secrets;
  const ofPoolers = credentials.data?.[hasSuperuserAccess(database) ? "password" : "userlist.txt"] ?? "";
  const synchronous = synchronousOf(database);
  return [
    credentials,
    ...(application ? [application] : []),
    ...(declared ? [declared] : []),
    ...certificates,
    ...certificatesFor(database),
    ...podMonitorsFor(database),
    config,
    scriptsFor(database),
    topologyFor(database, step.topology, { instances: count, synchronous, port: engine.port, fenced }),
    ...servicesFor(database, engine),
    ...disruptionBudgetFor(database, brokenServers(members, clock.now())),
    draft,
    ...poolerFor(database, engine, passwordDigest(ofPoolers).slice(0, 16)),
    ...backupsFor(database, backups),
  ];
}
