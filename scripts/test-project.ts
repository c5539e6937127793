// `npm run test:project`: from an empty folder to a packaged operator with the packed packages, on the embedded cluster and on the
// real control plane. It packs them first; with --packed it uses those that `npm run pack` has left in dist/.
import { spawnSync } from "node:child_process";
import { packTarballs } from "./release/tarballs.ts";
import { runAll } from "./steps.ts";

if (!process.argv.includes("--packed")) await packTarballs();
spawnSync("node", ["tools/peers/build.ts", "helm"], { stdio: "inherit" });
process.exit(await runAll(["a new project"]));
