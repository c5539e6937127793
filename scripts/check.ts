// `npm run check`: types, lint, layering and the words of the documentation, in seconds.
import { runAll } from "./steps.ts";

process.exit(await runAll(["types", "types of the console's page", "lint", "layering", "words"]));
