import { type KubeObject, keyOf } from "konverge";
import { Gauge, type Registry } from "prom-client";
import type { Database } from "./database.ts";
import type { DatabaseBackup } from "./database-backup.ts";

/** The latest numbers about the backups of one database. */
export interface BackupNumbers {
  /** 1 if backups are taken on a schedule. */
  readonly scheduled: number;
  /** 1 if the backup that was asked for last has failed. */
  readonly failed: number;
  /** Of the last whole one: seconds since 1970, seconds, bytes. */
  readonly stopped?: number;
  readonly duration?: number;
  readonly size?: number;
}

/** The metrics of a database's backups. */
export function backupNumbers(database: Database, all: readonly DatabaseBackup[]): BackupNumbers {
  const backups = all.filter(({ spec }) => spec.database === database.metadata.name);
  const made = ({ metadata }: DatabaseBackup) => Date.parse(metadata.creationTimestamp ?? "");
  const ended = backups.filter(({ status }) => ["Completed", "Expired", "Failed"].includes(status?.phase ?? ""));
  const latest = ended.reduce<DatabaseBackup | undefined>((a, b) => (a && made(a) > made(b) ? a : b), undefined);
  const whole = ended
    .filter(({ status }) => status?.phase !== "Failed")
    .flatMap(({ status }) => {
      const [started, stopped] = [Date.parse(status?.startedAt ?? ""), Date.parse(status?.stoppedAt ?? "")];
      return Number.isNaN(stopped) ? [] : [{ started, stopped, size: status?.size }];
    })
    .sort((a, b) => b.stopped - a.stopped)[0];
  return {
    scheduled: database.spec.backup?.schedule !== undefined && !database.spec.hibernated ? 1 : 0,
    failed: latest?.status?.phase === "Failed" ? 1 : 0,
    ...(whole && { stopped: whole.stopped / 1000 }),
    ...(whole && !Number.isNaN(whole.started) && { duration: (whole.stopped - whole.started) / 1000 }),
    ...(whole?.size !== undefined && { size: whole.size }),
  };
}

/** The metrics of backups. Queries compute the age of the last one: `time()` minus its timestamp. */
export class BackupMetrics {
  readonly #latest = new Map<string, { readonly database: Database; readonly numbers: BackupNumbers }>();
  #existing: (() => Iterable<KubeObject>) | undefined;

  constructor(registry: Registry) {
    const gauge = (name: string, help: string, value: (numbers: BackupNumbers) => number | undefined) => {
      const latest = () => this.#values();
      new Gauge({
        name,
        help,
        labelNames: ["namespace", "name"],
        registers: [registry],
        collect() {
          this.reset();
          for (const { database, numbers } of latest()) {
            const { namespace = "", name: of } = database.metadata;
            const number = value(numbers);
            if (number !== undefined) this.set({ namespace, name: of }, number);
          }
        },
      });
    };
    gauge("database_backup_scheduled", "1 if backups of a Database are taken on a schedule.", (one) => one.scheduled);
    gauge("database_backup_last_failed", "1 if the last backup of a Database has failed.", (one) => one.failed);
    gauge(
      "database_backup_last_success_timestamp_seconds",
      "Time of the last successful backup of a Database.",
      (one) => one.stopped,
    );
    gauge("database_backup_last_duration_seconds", "Duration of the last successful backup.", (one) => one.duration);
    gauge("database_backup_last_size_bytes", "Size of the last successful backup.", (one) => one.size);
  }

  /** `existing` returns the objects that exist, at each scrape: no event reports that one was deleted. */
  update(database: Database, backups: readonly DatabaseBackup[], existing: () => Iterable<KubeObject>): void {
    this.#latest.set(keyOf(database), { database, numbers: backupNumbers(database, backups) });
    this.#existing = existing;
  }

  #values() {
    const known = new Set(Array.from(this.#existing?.() ?? [], (object) => keyOf(object)));
    for (const key of this.#latest.keys()) if (!known.has(key)) this.#latest.delete(key);
    return this.#latest.values();
  }
}
