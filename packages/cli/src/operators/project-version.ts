import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** The version of the project that a folder is in: what is packaged has the same. */
export function projectVersion(folder = process.cwd()): string {
  for (let at = resolve(folder); ; at = dirname(at)) {
    const manifest = join(at, "package.json");
    const { version } = existsSync(manifest)
      ? (JSON.parse(readFileSync(manifest, "utf8")) as { version?: string })
      : {};
    if (version) return version;
    if (dirname(at) === at) return "0.1.0";
  }
}
