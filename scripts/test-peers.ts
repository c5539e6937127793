// `npm run test:peers`: programs on controller-runtime, kopf, kube-rs, Helm and client-node, built from their registries, on both
// servers; suites in Go, Python, Rust and Java on the single executable. What cannot be built here is reported as skipped.
import { spawnSync } from "node:child_process";
import { runAll } from "./steps.ts";

spawnSync("node", ["tools/peers/build.ts"], { stdio: "inherit" });
spawnSync("node", ["scripts/release/build-executable.ts"], { stdio: "inherit" });
process.exit(await runAll(["peers' programs"]));
