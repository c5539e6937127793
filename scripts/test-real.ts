// `npm run test:real`: the suites that need a real control plane.
import { runAll } from "./steps.ts";

process.exit(await runAll(["real tests"]));
