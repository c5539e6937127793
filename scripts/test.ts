// `npm test`: types, lint, layering, the words of the documentation and all fast tests.
import { runAll } from "./steps.ts";

process.exit(await runAll(["types", "types of the console's page", "lint", "layering", "words", "fast tests"]));
