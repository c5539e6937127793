// `npm run test:proofs`: operators with every fault at every point, deleted and interfered with in each phase, run without each of
// their permissions, and their scripts without each line; or the files that are named behind `--`. `-- --sample` tries a part of
// each, for machines that wait, and leaves out the scripts, of which each line takes seconds. `-- --seed N` chooses the part; without
// it, it is another one for every commit. `-- --depth 1` tries no pairs of faults, and `-- --continue` only what has not passed yet with
// the same code, so that an exploration that was stopped continues where it was.
import { parseArgs } from "node:util";
import { rotatingSeed } from "./sample.ts";
import { proofTests, runAll } from "./steps.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: "boolean" },
    seed: { type: "string" },
    depth: { type: "string", default: "2" },
    continue: { type: "boolean", default: false },
  },
});
process.env["KONVERGE_PROOFS_SEED"] = values.sample ? String(rotatingSeed(values.seed)) : (values.seed ?? "1");
process.env["KONVERGE_PROOFS_DEPTH"] = values.depth;
process.env["KONVERGE_PROOFS_CONTINUE"] = values.continue ? "yes" : "no";
if (values.sample) {
  process.env["KONVERGE_PROOFS"] = "sample";
  console.log(`a sample of faults: --sample --seed ${process.env["KONVERGE_PROOFS_SEED"]} repeats it`);
}
const sampled = () => proofTests().filter((file) => !/(mutations|script)\.proof/.test(file));
const files = positionals.length === 0 && values.sample ? sampled() : positionals;
process.exit(await runAll(["proofs"], files));
