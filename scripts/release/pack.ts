// `npm run pack`: makes the packages that are published, in dist/, as tarballs with declarations, source maps and an SBOM,
// installs them elsewhere and tries them. With --stage they are only put together, in dist/stage/node_modules; with --runtimes
// they are also tried with Bun, Deno and a Node that is too old, as npm has them. A project that `npm create konverge` makes from
// them is tried by `npm run test:project`.
// Nothing is uploaded: publishing is `npm publish --provenance dist/<tarball>` on the release machine.
import { execFileSync } from "node:child_process";
import { globSync, writeFileSync } from "node:fs";
import { DIST, packTarballs, stagePackages } from "./tarballs.ts";
import { tryInstalled } from "./try-installed.ts";

if (process.argv.includes("--stage")) await stagePackages();
else {
  await packTarballs();
  const sbom = execFileSync("npm", ["sbom", "--package-lock-only", "--sbom-format", "cyclonedx", "--omit", "dev"], {
    encoding: "utf8",
    maxBuffer: 1e8,
  });
  writeFileSync(`${DIST}/sbom.cdx.json`, sbom);
  await tryInstalled(globSync(`${DIST}/konverge*.tgz`), { runtimes: process.argv.includes("--runtimes") });
}
