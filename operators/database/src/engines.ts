import type { Database } from "./database.ts";

/** What differs between database servers. */
export interface Engine {
  readonly name: "postgres" | "mysql";
  readonly port: number;
  /** The variable through which the image learns the administrator's password. */
  readonly passwordVariable: string;
  readonly administrator: string;
  /** Where the server keeps its data; a folder below the volume, which may have a `lost+found` of its own. */
  readonly dataFolder: string;
  readonly dataVariable?: { readonly name: string; readonly value: string };
  /** Succeeds if the server answers. */
  readonly probe: readonly string[];
  /** The server's configuration, from parameters. */
  configuration(parameters: Readonly<Record<string, string>>): { readonly file: string; readonly text: string };
  /** Arguments that make the server read it. */
  configured(path: string): readonly string[];
}

const postgres: Engine = {
  name: "postgres",
  port: 5432,
  passwordVariable: "POSTGRES_PASSWORD",
  administrator: "postgres",
  dataFolder: "/var/lib/postgresql/data",
  dataVariable: { name: "PGDATA", value: "/var/lib/postgresql/data/pgdata" },
  probe: ["pg_isready", "-U", "postgres", "-h", "127.0.0.1"],
  configuration: (parameters) => ({
    file: "postgresql.conf",
    text: lines(
      { listen_addresses: "*", ...parameters },
      (name, value) => `${name} = '${value.replaceAll("'", "''")}'`,
    ),
  }),
  configured: (path) => ["-c", `config_file=${path}`],
};

const mysql: Engine = {
  name: "mysql",
  port: 3306,
  passwordVariable: "MYSQL_ROOT_PASSWORD",
  administrator: "root",
  dataFolder: "/var/lib/mysql",
  probe: ["sh", "-c", 'mysqladmin ping -h 127.0.0.1 -uroot -p"$MYSQL_ROOT_PASSWORD"'],
  configuration: (parameters) => ({
    file: "server.cnf",
    text: `[mysqld]\n${lines(parameters, (name, value) => `${name} = ${value}`)}`,
  }),
  configured: (path) => [`--defaults-extra-file=${path}`],
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
