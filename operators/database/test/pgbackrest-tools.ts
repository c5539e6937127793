import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { CACHES } from "./postgres-tools.ts";

const UNPACKED = join(CACHES, "konverge", "pgbackrest");
const PROGRAM = "usr/bin/pgbackrest";

/** The folder with pgBackRest: what the machine has, else Debian's package, fetched once; or why there is none. */
export function findPgBackRest(): { readonly bin: string } | { readonly why: string } {
  const there = ["/", UNPACKED].find((root) => existsSync(join(root, PROGRAM)));
  if (there) return { bin: join(there, "usr/bin") };
  const work = `${UNPACKED}-${process.pid}`;
  try {
    const run = (command: string, ...args: string[]) =>
      execFileSync(command, args, { cwd: work, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], timeout: 300_000 });
    mkdirSync(work, { recursive: true });
    run("apt-get", "download", "pgbackrest");
    const root = join(work, "root");
    for (const file of readdirSync(work).filter((name) => name.endsWith(".deb"))) run("dpkg-deb", "-x", file, root);
    run(join(root, PROGRAM), "version");
    if (!existsSync(UNPACKED)) renameSync(root, UNPACKED);
    return { bin: join(UNPACKED, "usr/bin") };
  } catch (error) {
    const said = error instanceof Error ? error.message.split("\n")[0] : String(error);
    return { why: `pgBackRest is not installed, and Debian's package cannot be fetched: ${said}` };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
