// `npm run test:proofs`: operators crashed at each of their writes, failed, deleted and interfered with in each phase, run without
// each of their rights, and their scripts without each line; or the files that are named behind `--`. `-- --sample` tries a part
// of each, for machines that wait, and leaves out the scripts, of which each line takes seconds.
import { parseArgs } from "node:util";
import { proofTests, runAll } from "./steps.ts";

const { values, positionals } = parseArgs({ allowPositionals: true, options: { sample: { type: "boolean" } } });
if (values.sample) process.env["KONVERGE_PROOFS"] = "sample";
const sampled = () => proofTests().filter((file) => !/(mutations|script)\.proof/.test(file));
const files = positionals.length === 0 && values.sample ? sampled() : positionals;
process.exit(await runAll(["proofs"], files));
