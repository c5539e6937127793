import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** PostgreSQL's programs on this machine. */
export interface PostgresTools {
  /** The folder with postgres, initdb, psql, pg_basebackup and the others. */
  readonly bin: string;
  /** Where their libraries are, if the system does not know them. */
  readonly libraries: string | undefined;
}

/** PostgreSQL's programs, or why there are none. */
export type FoundPostgres = PostgresTools | { readonly why: string };

const NEEDED = ["postgres", "initdb", "pg_ctl", "psql", "pg_basebackup", "pg_verifybackup", "pg_rewind", "pg_dumpall"];
/** Root's own cache is closed to the user that servers run as. */
export const CACHES =
  process.getuid?.() === 0 ? "/var/cache" : (process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"));
const CACHE = join(CACHES, "konverge", "postgres");
/** Debian's packages are unpacked here, as they lie on a system. */
const UNPACKED = join(CACHE, "root");

let found: FoundPostgres | undefined;

/** What the machine has, else Debian's packages, fetched once into the user's cache folder. */
export function findPostgres(): FoundPostgres {
  found ??= installed("/", undefined) ?? installed(UNPACKED, librariesIn(UNPACKED)) ?? fetched();
  return found;
}

function installed(root: string, libraries: string | undefined): PostgresTools | undefined {
  const versions = join(root, "usr/lib/postgresql");
  if (!existsSync(versions)) return undefined;
  return readdirSync(versions)
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => ({ bin: join(versions, version, "bin"), libraries }))
    .find(({ bin }) => NEEDED.every((program) => existsSync(join(bin, program))));
}

/** Where the libraries of what is unpacked there are. */
export function librariesIn(root: string): string | undefined {
  const folder = join(root, "usr/lib");
  if (!existsSync(folder)) return undefined;
  const found = readdirSync(folder).find((name) => name.endsWith("-linux-gnu"));
  return found && join(folder, found);
}

/** Downloads and unpacks, without root: nothing is installed. */
function fetched(): FoundPostgres {
  const work = join(CACHE, `fetch-${process.pid}`);
  try {
    const run = (command: string, ...args: string[]) =>
      execFileSync(command, args, { cwd: work, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], timeout: 300_000 });
    mkdirSync(work, { recursive: true });
    const known = run("apt-cache", "pkgnames", "postgresql-").match(/^postgresql-\d+$/gm) ?? [];
    const newest = known.map((name) => Number(name.split("-")[1])).sort((a, b) => b - a)[0];
    if (newest === undefined) return { why: "PostgreSQL is not installed, and Debian's package lists do not have it" };
    run("apt-get", "download", `postgresql-${newest}`, `postgresql-client-${newest}`, "libpq5");
    const root = join(work, "root");
    for (const file of readdirSync(work).filter((name) => name.endsWith(".deb"))) run("dpkg-deb", "-x", file, root);
    if (!existsSync(UNPACKED)) renameSync(root, UNPACKED);
    return installed(UNPACKED, librariesIn(UNPACKED)) ?? { why: `Debian's packages in ${UNPACKED} are not whole` };
  } catch (error) {
    const said = error instanceof Error ? error.message.split("\n")[0] : String(error);
    return { why: `PostgreSQL is not installed, and Debian's package cannot be fetched: ${said}` };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
