import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path/posix";

/** The folder of the package behind `npm create konverge`: only a launcher. */
const FOLDER = "packages/create-konverge";
export const LAUNCHER = "create-konverge";

/** Puts the launcher together as it is published: as it is, but public. */
export function stageLauncher(root: string): void {
  cpSync(FOLDER, root, { recursive: true, filter: (path) => !path.includes("node_modules") });
  cpSync("LICENSE", join(root, "LICENSE"));
  const { private: _, ...manifest } = JSON.parse(readFileSync(join(FOLDER, "package.json"), "utf8")) as object & {
    private?: boolean;
  };
  writeFileSync(join(root, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
}
