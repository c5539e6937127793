import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { librariesIn, type PostgresTools } from "./postgres-tools.ts";

/** MySQL's programs on this machine. */
export interface MysqlTools extends PostgresTools {
  /** Flags for the server with the paths of its installation. */
  readonly flags: readonly string[];
}

/** MySQL's programs, or why there are none. */
export type FoundMysql = MysqlTools | { readonly why: string };

/**
 * What the machine has: Debian's package lists have no MySQL, so nothing is fetched. `KONVERGE_MYSQL` is a folder into which the
 * packages of a server and its clients were unpacked, as they lie on a system.
 */
export function findMysql(): FoundMysql {
  const root = process.env["KONVERGE_MYSQL"] ?? "/";
  if (!existsSync(join(root, "usr/sbin/mysqld"))) {
    return {
      why: "there is no MySQL on this machine: install version 8, or set KONVERGE_MYSQL to where it is unpacked",
    };
  }
  const tools = toolsIn(root);
  try {
    const version = execFileSync(join(root, "usr/sbin/mysqld"), ["--no-defaults", "--version"], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
      ...(tools.libraries && { env: { LD_LIBRARY_PATH: tools.libraries } }),
    });
    return version.includes("Ver 8.") ? tools : { why: `not the MySQL that was expected: ${version}` };
  } catch (error) {
    const said = error instanceof Error ? error.message.split("\n")[0] : String(error);
    return { why: `MySQL does not run here: ${said}` };
  }
}

function toolsIn(root: string) {
  return {
    bin: `${join(root, "usr/sbin")}:${join(root, "usr/bin")}`,
    libraries: root === "/" ? undefined : librariesIn(root),
    flags: [
      "--no-defaults",
      "--secure-file-priv=NULL",
      `--basedir=${join(root, "usr")}`,
      `--lc-messages-dir=${join(root, "usr/share/mysql")}`,
      `--plugin-dir=${join(root, "usr/lib/mysql/plugin")}`,
    ],
  };
}
