import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { PostgresTools } from "./postgres-tools.ts";

/** MySQL's programs on this machine. */
export interface MysqlTools extends PostgresTools {
  /** What the server is told about where its own files are. */
  readonly flags: readonly string[];
}

/** MySQL's programs, or why there are none. */
export type FoundMysql = MysqlTools | { readonly why: string };

/** Debian has no MySQL. Ubuntu's of this release run on any distribution with a C library as new. */
const ARCHIVE = process.env["KONVERGE_ARCHIVE"] ?? "";
const LISTS = ["dists/jammy-updates/main/binary-amd64/Packages.xz", "dists/jammy/main/binary-amd64/Packages.xz"];
const PACKAGES = [
  ...["mysql-server-core-8.0", "mysql-server-8.0", "mysql-client-core-8.0"],
  ...["libaio1", "libbsd0", "libedit2", "libevent-core-2.1-7", "libevent-pthreads-2.1-7", "libicu70", "libmd0"],
  ...["libmecab2", "libnuma1", "libprotobuf-lite23", "libtirpc3"],
];
/** Root's own cache is closed to the user that servers run as. */
const CACHES = process.getuid?.() === 0 ? "/var/cache" : (process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"));
const CACHE = join(CACHES, "konverge", "mysql");
const UNPACKED = join(CACHE, "root");

/** Ubuntu's packages, fetched once into the user's cache folder and unpacked there: nothing is installed. */
export function findMysql(): FoundMysql {
  if (process.platform !== "linux" || process.arch !== "x64") return { why: "there is a MySQL for Linux on x64 only" };
  try {
    if (!existsSync(UNPACKED)) fetchInto(UNPACKED);
    const tools = toolsIn(UNPACKED);
    const version = execFileSync(join(UNPACKED, "usr/sbin/mysqld"), ["--no-defaults", "--version"], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
      env: { LD_LIBRARY_PATH: tools.libraries },
    });
    return version.includes("Ver 8.") ? tools : { why: `not the MySQL that was expected: ${version}` };
  } catch (error) {
    const said = error instanceof Error ? error.message.split("\n")[0] : String(error);
    return { why: `MySQL cannot be fetched from ${ARCHIVE}, or does not run here: ${said}` };
  }
}

function toolsIn(root: string) {
  return {
    bin: `${join(root, "usr/sbin")}:${join(root, "usr/bin")}`,
    libraries: join(root, "usr/lib/x86_64-linux-gnu"),
    flags: [
      "--no-defaults",
      "--secure-file-priv=NULL",
      `--basedir=${join(root, "usr")}`,
      `--lc-messages-dir=${join(root, "usr/share/mysql")}`,
      `--plugin-dir=${join(root, "usr/lib/mysql/plugin")}`,
    ],
  };
}

function fetchInto(target: string): void {
  const work = join(CACHE, `fetch-${process.pid}`);
  mkdirSync(work, { recursive: true });
  try {
    const run = (command: string, ...args: string[]) =>
      execFileSync(command, args, {
        cwd: work,
        encoding: "utf8",
        stdio: ["ignore", "pipe", "pipe"],
        timeout: 300_000,
        maxBuffer: 2 ** 28,
      });
    const load = (path: string, to: string) =>
      run("curl", "-fsS", "--retry", "2", "--max-time", "240", "-o", to, `${ARCHIVE}/${path}`);
    const entries = LISTS.flatMap((list) => {
      load(list, "list.xz");
      return run("xz", "-dc", "list.xz").split("\n\n");
    });
    for (const name of PACKAGES) {
      const entry = entries.find((one) => one.startsWith(`Package: ${name}\n`)) ?? "";
      const field = (of: string) => new RegExp(`^${of}: (.*)$`, "m").exec(entry)?.[1] ?? "";
      load(field("Filename"), `${name}.deb`);
      const digest = createHash("sha256")
        .update(readFileSync(join(work, `${name}.deb`)))
        .digest("hex");
      if (digest !== field("SHA256")) throw new Error(`${name} is not what its list says`);
    }
    const root = join(work, "root");
    for (const file of readdirSync(work).filter((one) => one.endsWith(".deb"))) run("dpkg-deb", "-x", file, root);
    if (!existsSync(target)) renameSync(root, target);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
