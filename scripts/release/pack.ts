// `npm run pack`: makes the packages that are published, in dist/, as tarballs with declarations, source maps and an SBOM,
// installs them elsewhere and tries them, also in a project that `npm create konverge` makes from them. With --stage they are only put together, in dist/stage/node_modules; with --runtimes
// they are also tried with Bun, Deno and a Node that is too old, as npm has them.
// Nothing is uploaded: publishing is `npm publish --provenance dist/<tarball>` on the release machine.
import { execFileSync } from "node:child_process";
import { globSync, writeFileSync } from "node:fs";
import { emit } from "./emit.ts";
import { published } from "./layout.ts";
import { stage, stageFolder } from "./stage.ts";
import { LAUNCHER, stageLauncher } from "./stage-launcher.ts";
import { tryInstalled } from "./try-installed.ts";
import { tryProject } from "./try-project.ts";

const STAGED = "dist/stage/node_modules";

emit();
for (const target of published) await stage(target, stageFolder(target, STAGED));
if (!process.argv.includes("--stage")) {
  stageLauncher(`${STAGED}/${LAUNCHER}`);
  for (const folder of [...published.map((target) => stageFolder(target, STAGED)), `${STAGED}/${LAUNCHER}`])
    execFileSync("npm", ["pack", "--silent", "--pack-destination", "dist", `./${folder}`], { stdio: "inherit" });
  const sbom = execFileSync("npm", ["sbom", "--package-lock-only", "--sbom-format", "cyclonedx", "--omit", "dev"], {
    encoding: "utf8",
    maxBuffer: 1e8,
  });
  writeFileSync("dist/sbom.cdx.json", sbom);
  tryProject("dist");
  await tryInstalled(globSync("dist/konverge*.tgz"), { runtimes: process.argv.includes("--runtimes") });
}
