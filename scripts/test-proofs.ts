// `npm run test:proofs`: operators crashed at each of their writes, and run without each of their rights, on the embedded
// cluster; or the files that are named behind `--`.
import { runAll } from "./steps.ts";

process.exit(await runAll(["proofs"], process.argv.slice(2)));
