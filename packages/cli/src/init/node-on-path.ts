import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join, sep } from "node:path";

/** The folders that npm puts before the user's own. */
const OF_NPM = [join("node_modules", ".bin"), "node-gyp-bin"];

/**
 * The major version of the Node that a user's terminal starts, undefined if there is none. It need not be this process's: npx can
 * bring another one.
 */
export function nodeOnPath(path: string | undefined): number | undefined {
  const file = process.platform === "win32" ? "node.exe" : "node";
  for (const folder of (path ?? "").split(delimiter)) {
    if (folder === "" || OF_NPM.some((one) => folder.endsWith(`${sep}${one}`))) continue;
    const program = join(folder, file);
    if (!existsSync(program)) continue;
    const { stdout } = spawnSync(program, ["--version"], { encoding: "utf8" });
    return Number(/^v(\d+)/.exec(stdout ?? "")?.[1] ?? Number.NaN) || undefined;
  }
  return undefined;
}
