// `npm run check`: types, lint, layering and the words of the documentation, in seconds. The linter, which takes longest, runs beside
// the others.
import { runAll } from "./steps.ts";

const failures = await Promise.all([
  runAll(["lint"]),
  runAll(["types", "types of the console's page", "layering", "words"]),
]);
process.exit(Math.max(...failures));
