import { runAll } from "./steps.ts";

process.exit(await runAll(["format"]));
