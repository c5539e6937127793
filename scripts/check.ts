// `npm run check`: types, lint, layering and the names of the public API, in seconds.
import { runAll } from "./steps.ts";

process.exit(await runAll(["types", "lint", "layering", "public names"]));
