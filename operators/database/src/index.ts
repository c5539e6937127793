/**
 * Databases: a primary with its standbys, their volumes, credentials and Services, and optional backups.
 *
 * A {@link Database} has a version, a size and a number of instances; pure functions render its children, and
 * {@link databases} reconciles them. {@link nextStep} decides which server leads, from the state of the pods and the
 * reports of the servers; the result is written into a ConfigMap, the {@link Topology}, which a script in each pod follows
 * (`scripts/server.sh`). Servers are queried by running another script in their pods (`scripts/status.sh`).
 *
 * Backups are taken by Jobs: files with continuously archived WAL, or dumps. A {@link DatabaseBackup} requests a backup, or
 * represents a scheduled one; a {@link DatabaseRestore} restores one, up to a point in time, in steps that {@link nextMove}
 * derives from the current state. The scripts are in `scripts/`; they get what differs between pods in environment variables.
 *
 * Guarantees: two servers never acknowledge writes at the same time, no acknowledged write is lost unless that was allowed,
 * and volumes never shrink. Passwords are stored only in a Secret.
 */
export * from "./access-rules.ts";
export * from "./adoption.ts";
export * from "./application.ts";
export * from "./archive-facts.ts";
export * from "./backup.ts";
export * from "./backup-controller.ts";
export * from "./backup-jobs.ts";
export * from "./backup-metrics.ts";
export * from "./backup-place.ts";
export * from "./backup-spec.ts";
export * from "./backup-volume.ts";
export * from "./credentials.ts";
export * from "./database.ts";
export * from "./database-admission.ts";
export * from "./database-backup.ts";
export * from "./database-children.ts";
export * from "./database-controller.ts";
export * from "./database-restore.ts";
export * from "./database-upgrade.ts";
export * from "./declared.ts";
export * from "./declared-rules.ts";
export * from "./declared-status.ts";
export * from "./disruption-budget.ts";
export * from "./drill-jobs.ts";
export * from "./drill-status.ts";
export * from "./engines.ts";
export * from "./failover-policy.ts";
export * from "./fence.ts";
export * from "./fleet-rollout.ts";
export * from "./gap-backup.ts";
export * from "./leadership.ts";
export * from "./leases.ts";
export * from "./object-store.ts";
export * from "./object-store-spec.ts";
export * from "./operator.ts";
export * from "./parameter-rollout.ts";
export * from "./parameter-rules.ts";
export * from "./quorum.ts";
export * from "./recovery-controller.ts";
export * from "./recovery-status.ts";
export * from "./recovery-window.ts";
export * from "./replica.ts";
export * from "./replica-source.ts";
export * from "./replica-spec.ts";
export * from "./restore-controller.ts";
export * from "./restore-hold.ts";
export * from "./restore-jobs.ts";
export * from "./restore-progress.ts";
export * from "./restore-spec.ts";
export * from "./rollout.ts";
export * from "./scram.ts";
export * from "./scripts.ts";
export * from "./self-fencing.ts";
export * from "./server-pod.ts";
export * from "./server-report.ts";
export * from "./server-tls.ts";
export * from "./storage.ts";
export * from "./superuser.ts";
export * from "./task-report.ts";
export * from "./tls-certificate.ts";
export * from "./topology.ts";
export * from "./upgrade-jobs.ts";
export * from "./version.ts";
export * from "./wal-archive.ts";
