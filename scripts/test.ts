// `npm test`: types, lint, layering, the words of the documentation, and the fast tests: all of the framework and of the embedded
// cluster, and a sixth of the files that test operators, command and explorer as a whole, another sixth for each commit.
// `-- --seed N` repeats a choice, `-- --all` runs all of them, as CI does.
import { parseArgs } from "node:util";
import { rotatingSeed, sample } from "./sample.ts";
import { fastTests, runAll } from "./steps.ts";

/** Most of the time of all fast tests goes into these: they start clusters, operators and processes. */
const WHOLE_PROGRAMS = /^(operators[\\/][^\\/]+[\\/]test|packages[\\/](cli|testing))[\\/]/;

const { values } = parseArgs({
  options: { all: { type: "boolean", default: false }, seed: { type: "string" } },
});

let files = fastTests();
if (!values.all) {
  const [seed, long] = [rotatingSeed(values.seed), files.filter((file) => WHOLE_PROGRAMS.test(file))];
  const chosen = new Set(sample(long, 6, seed));
  files = files.filter((file) => !WHOLE_PROGRAMS.test(file) || chosen.has(file));
  console.log(
    `of operators, command and explorer: ${chosen.size} of ${long.length} test files; --seed ${seed} repeats this choice, --all runs all`,
  );
}
process.exit(await runAll(["types", "types of the console's page", "lint", "layering", "words", "fast tests"], files));
