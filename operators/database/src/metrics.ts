import { type KubeObject, keyOf } from "konverge";
import { Counter, Gauge, type Registry } from "prom-client";
import type { Database } from "./database.ts";
import type { Findings } from "./database-status.ts";
import type { Drill } from "./drill-status.ts";
import { isServing } from "./leadership.ts";
import { windowStatus } from "./recovery-status.ts";

/** The latest numbers about one database. */
interface Numbers {
  readonly namespace: string;
  readonly name: string;
  readonly wanted: number;
  readonly ready: number;
  readonly term: number;
  /** 1 if some server may take writes. */
  readonly led: number;
  readonly used: number | undefined;
  readonly behind: number | undefined;
  readonly unarchived: number | undefined;
  readonly archiveLag: number | undefined;
  readonly archiveFailures: number | undefined;
  readonly recovery: ReturnType<typeof windowStatus>;
  readonly drills: readonly Drill[];
}

/** The metrics of this operator's objects, besides those of every controller. */
export class DatabaseMetrics {
  readonly #latest = new Map<string, Numbers>();
  readonly #changes: Counter<"namespace" | "name" | "kind">;
  #existing: (() => Iterable<KubeObject>) | undefined;

  constructor(registry: Registry) {
    const registers = [registry];
    const gauge = (name: string, help: string, value: (numbers: Numbers) => number | undefined) => {
      const latest = () => this.#values();
      new Gauge({
        name,
        help,
        labelNames: ["namespace", "name"],
        registers,
        collect() {
          this.reset();
          for (const one of latest()) {
            const number = value(one);
            if (number !== undefined) this.set({ namespace: one.namespace, name: one.name }, number);
          }
        },
      });
    };
    gauge("database_instances_wanted", "Number of servers that a Database requests.", ({ wanted }) => wanted);
    gauge("database_instances_ready", "Number of ready servers of a Database.", ({ ready }) => ready);
    gauge("database_primary_present", "1 if a server of a Database accepts writes, otherwise 0.", ({ led }) => led);
    gauge("database_term", "Term of a Database: increases with each change of the primary.", ({ term }) => term);
    gauge("database_volume_used_percent", "Usage of the fullest volume of a Database, in percent.", ({ used }) => used);
    gauge(
      "database_replica_lag_seconds",
      "Lag of the standby that is furthest behind, in seconds.",
      ({ behind }) => behind,
    );
    gauge("database_wal_unarchived_segments", "WAL segments that wait to be archived.", ({ unarchived }) => unarchived);
    gauge(
      "database_wal_archive_lag_seconds",
      "How long the oldest WAL segment has waited, in seconds.",
      (one) => one.archiveLag,
    );
    gauge(
      "database_wal_gap_open",
      "1 if WAL is missing in the archive and no base backup has followed yet, otherwise 0.",
      ({ recovery }) =>
        recovery.firstRecoverable === undefined
          ? undefined
          : Number(recovery.gaps?.some(({ to }) => to === undefined) ?? false),
    );
    gauge("database_wal_gaps", "Number of gaps in the times that can be restored.", ({ recovery }) =>
      recovery.firstRecoverable === undefined ? undefined : (recovery.gaps?.length ?? 0),
    );
    gauge("database_recoverable_first_timestamp_seconds", "The earliest time that can be restored.", ({ recovery }) =>
      seconds(recovery.firstRecoverable),
    );
    gauge("database_recoverable_last_timestamp_seconds", "The latest time that can be restored.", ({ recovery }) =>
      seconds(recovery.lastRecoverable),
    );
    const passed = (drills: readonly Drill[]) => drills.find(({ result }) => result === "Passed");
    gauge(
      "database_drill_last_failed",
      "1 if the last restore drill of a Database has failed.",
      ({ drills: [last] }) => (last ? Number(last.result === "Failed") : undefined),
    );
    gauge("database_drill_last_success_timestamp_seconds", "Start of the last drill that passed.", ({ drills }) =>
      seconds(passed(drills)?.startedAt),
    );
    gauge(
      "database_drill_last_duration_seconds",
      "Duration of the last restore drill that passed.",
      ({ drills }) => passed(drills)?.seconds,
    );
    const latest = () => this.#values();
    new Counter({
      name: "database_wal_archive_failures_total",
      help: "Number of failed attempts to archive WAL, as the primary counts them.",
      labelNames: ["namespace", "name"],
      registers,
      collect() {
        this.reset();
        for (const { namespace, name, archiveFailures } of latest()) {
          if (archiveFailures !== undefined) this.inc({ namespace, name }, archiveFailures);
        }
      },
    });
    this.#changes = new Counter({
      name: "database_leadership_changes_total",
      help: "Number of completed failovers and switchovers.",
      labelNames: ["namespace", "name", "kind"],
      registers,
    });
  }

  /** `existing` returns the objects that exist, at each scrape: no event reports that one was deleted. */
  update(database: Database, { members, step, drills }: Findings, existing: () => Iterable<KubeObject>): void {
    const { namespace = "", name } = database.metadata;
    const reports = members.flatMap(({ report }) => report ?? []);
    const used = reports.flatMap(({ size, used: bytes }) => (size && bytes !== undefined ? (bytes * 100) / size : []));
    const behind = reports.flatMap((report) => report.behind ?? []);
    const leader = members.find((one) => one.name === step.topology.primary);
    this.#latest.set(keyOf(database), {
      namespace,
      name,
      wanted: database.spec.hibernated ? 0 : database.spec.instances,
      ready: members.filter(({ pod }) => pod?.ready && !pod.ending).length,
      term: step.topology.term,
      led: leader && isServing(leader) ? 1 : 0,
      used: used.length > 0 ? Math.max(...used) : undefined,
      behind: behind.length > 0 ? Math.max(...behind) : undefined,
      unarchived: total([leader?.report?.unarchived, ...reports.map(({ aside }) => aside)]),
      archiveLag: leader?.report?.archiveLag,
      archiveFailures: leader?.report?.archiveFailures,
      recovery: windowStatus(database, members),
      drills,
    });
    this.#existing = existing;
    const kinds: Readonly<Record<string, string>> = { FailedOver: "failover", SwitchedOver: "switchover" };
    const kind = kinds[step.event?.reason ?? ""];
    if (kind) this.#changes.inc({ namespace, name, kind });
  }

  #values(): Iterable<Numbers> {
    const known = new Set(Array.from(this.#existing?.() ?? [], (object) => keyOf(object)));
    for (const key of this.#latest.keys()) if (!known.has(key)) this.#latest.delete(key);
    return this.#latest.values();
  }
}

/** The sum of what is known; undefined if nothing is. */
function total(numbers: readonly (number | undefined)[]): number | undefined {
  const known = numbers.filter((number) => number !== undefined);
  return known.length > 0 ? known.reduce((a, b) => a + b, 0) : undefined;
}

const seconds = (time: string | undefined) => (time === undefined ? undefined : Date.parse(time) / 1000);
