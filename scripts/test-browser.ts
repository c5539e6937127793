// `npm run test:browser`: the tests that drive Chromium: of the console. Arguments name files, to run only those.
import { runAll } from "./steps.ts";

process.exit(await runAll(["browser tests"], process.argv.slice(2)));
