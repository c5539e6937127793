// `npm run test:proofs`: operators crashed at each of their writes, failed, deleted and interfered with in each phase, run without
// each of their rights, and their scripts without each line; or the files that are named behind `--`. `-- --sample` tries a part
// of each, for machines that wait.
import { parseArgs } from "node:util";
import { runAll } from "./steps.ts";

const { values, positionals } = parseArgs({ allowPositionals: true, options: { sample: { type: "boolean" } } });
if (values.sample) process.env["KONVERGE_PROOFS"] = "sample";
process.exit(await runAll(["proofs"], positionals));
