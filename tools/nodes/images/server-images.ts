import { execFileSync } from "node:child_process";
import { chownSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { addUser } from "./debian.ts";
import type { DebianImage } from "./debian-image.ts";

export const SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/** What shell scripts use. */
export const SHELL_TOOLS = [
  "base-passwd",
  "dash",
  "coreutils",
  "sed",
  "grep",
  "mawk",
  "findutils",
  "diffutils",
  "tar",
  "gzip",
];

/**
 * Debian's PostgreSQL 15 where the official image has it: its programs on PATH, the user `postgres` with the id 999. There is
 * no docker-entrypoint.sh; the operator's pods bring their own scripts.
 */
export const postgres: DebianImage = {
  name: "docker.io/library/postgres:15",
  packages: ["postgresql-15", "tzdata", ...SHELL_TOOLS],
  // A compiler for long queries, which the server does without; wrappers in Perl that choose among versions of PostgreSQL.
  without: ["libllvm", "libz3", "postgresql-common", "postgresql-client-common"],
  config: {
    User: "postgres",
    Env: [`PATH=${SYSTEM_PATH}:/usr/lib/postgresql/15/bin`, "LANG=C.UTF-8", "PGDATA=/var/lib/postgresql/data"],
    Cmd: ["postgres"],
  },
  finish: (root) => {
    addUser(root, "postgres", 999, "/var/lib/postgresql");
    for (const folder of ["var/lib/postgresql", "var/lib/postgresql/data", "run/postgresql"]) {
      mkdirSync(join(root, folder), { recursive: true });
      chownSync(join(root, folder), 999, 999);
    }
  },
};

/** The same server with Debian's pgBackRest, for backups in an object store. */
export const postgresWithPgBackRest: DebianImage = {
  ...postgres,
  name: "docker.io/example/postgres-pgbackrest:15",
  packages: [...postgres.packages, "pgbackrest"],
};

/** Debian's PgBouncer with the user of the image that the operator names by default. */
export const pgbouncer: DebianImage = {
  name: "docker.io/edoburu/pgbouncer:v1.24.1-p1",
  packages: ["pgbouncer", ...SHELL_TOOLS],
  without: ["libllvm", "libz3", "postgresql"],
  config: { User: "70", Env: [`PATH=${SYSTEM_PATH}`], Cmd: ["pgbouncer", "/etc/pgbouncer/pgbouncer.ini"] },
  finish: (root) => addUser(root, "postgres", 70, "/"),
};

export const busybox: DebianImage = {
  name: "docker.io/library/busybox:1.35",
  packages: ["busybox-static"],
  config: { Env: [`PATH=${SYSTEM_PATH}`], Cmd: ["sh"] },
  finish: (root) => {
    const names = execFileSync("chroot", [root, "/bin/busybox", "--list"], { encoding: "utf8" }).trim().split("\n");
    for (const name of names) if (name !== "busybox") symlinkSync("busybox", join(root, "usr/bin", name));
  },
};

/** Debian's Python 3.11 with its standard library, and nothing else. */
export const python: DebianImage = {
  name: "docker.io/library/python:3.11-slim",
  packages: ["python3", "tzdata", ...SHELL_TOOLS],
  config: { Env: [`PATH=${SYSTEM_PATH}`, "LANG=C.UTF-8", "PYTHONUNBUFFERED=1"], Cmd: ["python3"] },
};
