import type { Database } from "./database.ts";

/** What differs between database servers. */
export interface Engine {
  readonly name: "postgres" | "mysql";
  readonly port: number;
  /** The variable through which the image learns the administrator's password. */
  readonly passwordVariable: string;
  readonly administrator: string;
  /** Where the server finds its volume. */
  readonly dataFolder: string;
  /** The folder of the volume that is mounted there. Data are never at its root, which may have a `lost+found`. */
  readonly subPath?: string;
  /** The default image of the exporter of metrics. */
  readonly exporter: string;
  /** The server's configuration, from parameters: texts by the name of their file. */
  configuration(parameters: Readonly<Record<string, string>>): Readonly<Record<string, string>>;
}

/**
 * What standbys and reading from them need. Parameters win, except over what they would break. The limits that a standby must have
 * at least as high as its primary are always there, so that `server-parameters.sh` can compare them.
 */
const POSTGRES_DEFAULTS = {
  max_connections: "100",
  max_locks_per_transaction: "64",
  max_prepared_transactions: "0",
  max_replication_slots: "20",
  max_wal_senders: "20",
  max_worker_processes: "8",
  wal_keep_size: "256MB",
};
const POSTGRES_FIXED = { listen_addresses: "*", wal_level: "replica", hot_standby: "on" };

/** Within its container everybody is the administrator; from elsewhere everybody needs a password. */
const POSTGRES_ACCESS = [
  "local all all trust",
  "host replication replicator all scram-sha-256",
  "host all all all scram-sha-256",
  "",
].join("\n");

const postgres: Engine = {
  name: "postgres",
  port: 5432,
  passwordVariable: "POSTGRES_PASSWORD",
  administrator: "postgres",
  dataFolder: "/var/lib/postgresql/data",
  exporter: "quay.io/prometheuscommunity/postgres-exporter:v0.17.1",
  configuration: (parameters) => ({
    "postgresql.conf": lines(
      { ...POSTGRES_DEFAULTS, ...parameters, ...POSTGRES_FIXED },
      (name, value) => `${name} = '${value.replaceAll("'", "''")}'`,
    ),
    "pg_hba.conf": POSTGRES_ACCESS,
  }),
};

const mysql: Engine = {
  name: "mysql",
  port: 3306,
  passwordVariable: "MYSQL_ROOT_PASSWORD",
  administrator: "root",
  dataFolder: "/var/lib/mysql",
  // The image has the data where the volume is mounted, and initializes none beside other files.
  subPath: "mysql",
  exporter: "prom/mysqld-exporter:v0.17.2",
  configuration: (parameters) => ({
    "server.cnf": `[mysqld]\n${lines(parameters, (name, value) => `${name} = ${value}`)}`,
  }),
};

function lines(parameters: Readonly<Record<string, string>>, write: (name: string, value: string) => string): string {
  return Object.entries(parameters)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${write(name, value)}\n`)
    .join("");
}

/** The engine of a database: said, or read from its name. */
export function engineOf({ metadata, spec }: Pick<Database, "metadata" | "spec">): Engine {
  const name = spec.engine ?? (metadata.name.includes("postgres") ? "postgres" : "mysql");
  return name === "postgres" ? postgres : mysql;
}
