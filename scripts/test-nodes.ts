// `npm run test:nodes`: the operators from their own image, and what they run, on real nodes of this machine; or the files that
// are named behind `--`. Where root or a program is missing, the scenarios are skipped, with the reason.
import { runAll } from "./steps.ts";

process.exit(await runAll(["real nodes"], process.argv.slice(2)));
