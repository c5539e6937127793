// `npm run test:peers`: programs on controller-runtime, kopf, kube-rs, Helm and client-node, built from their registries, on both
// servers. What cannot be built here is reported as skipped.
import { spawnSync } from "node:child_process";
import { runAll } from "./steps.ts";

spawnSync("node", ["tools/peers/build.ts"], { stdio: "inherit" });
process.exit(await runAll(["peers' programs"]));
