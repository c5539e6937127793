import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { emit } from "./emit.ts";
import { published } from "./layout.ts";
import { stage, stageFolder } from "./stage.ts";
import { LAUNCHER, stageLauncher } from "./stage-launcher.ts";

/** Where everything that is published is written. */
export const DIST = "dist";
const STAGED = `${DIST}/stage/node_modules`;

/** Puts the packages together, each in a folder as it is published. */
export async function stagePackages(): Promise<void> {
  emit();
  for (const target of published) await stage(target, stageFolder(target, STAGED));
}

/** Makes the tarballs of all packages, the launcher of `npm create konverge` included. */
export async function packTarballs(): Promise<void> {
  await stagePackages();
  stageLauncher(`${STAGED}/${LAUNCHER}`);
  for (const folder of [...published.map((target) => stageFolder(target, STAGED)), `${STAGED}/${LAUNCHER}`])
    execFileSync("npm", ["pack", "--silent", "--pack-destination", DIST, `./${folder}`], { stdio: "inherit" });
}

/** The tarball of a package, by the name that npm gives the file: `konverge-dev`. */
export function tarballOf(name: string, dist = DIST): string {
  const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
  return join(resolve(dist), `${name}-${version}.tgz`);
}
