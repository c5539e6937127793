// `npm run test:nodes`: the operators from their own image, and what they run, on real nodes of this machine; or the files that
// are named behind `--`. Where root or a program is missing, the scenarios are skipped, with the reason.
// `--control-plane real` runs the scenarios of tools/nodes with kube-apiserver and its companions instead of the embedded ones.
import { globSync } from "node:fs";
import { parseArgs } from "node:util";
import { runAll } from "./steps.ts";

const { values, positionals } = parseArgs({
  options: { "control-plane": { type: "string", default: "embedded" } },
  allowPositionals: true,
});
const plane = values["control-plane"];
if (plane !== "embedded" && plane !== "real") throw new Error(`--control-plane ${plane}: it must be embedded or real`);
process.env["KONVERGE_CONTROL_PLANE"] = plane;
const files =
  plane === "real" && positionals.length === 0 ? globSync("tools/nodes/*.nodes.test.ts").sort() : positionals;
process.exit(await runAll(["real nodes"], files));
