// `npm run check`: types, lint and layering, in seconds.
import { runAll } from "./steps.ts";

process.exit(await runAll(["types", "lint", "layering"]));
