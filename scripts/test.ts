// `npm test`: types, lint, layering and all fast tests.
import { runAll } from "./steps.ts";

process.exit(await runAll(["types", "lint", "layering", "fast tests"]));
