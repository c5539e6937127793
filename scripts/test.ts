// `npm test`: types, lint, layering, the words of the documentation, and the fast tests: all of the framework and of the embedded
// cluster, and a sixth of the files that test operators, command and explorer as a whole, another sixth for each commit.
// `-- --seed N` repeats a choice, `-- --all` runs all of them, as CI does.
// `-- FILE…` runs these test files only, of whatever suite, or the fast tests of these folders. `-- --changed` runs the fast tests that
// can be affected by what differs from the branch main, or from `--since COMMIT`.
import { globSync, readFileSync, statSync } from "node:fs";
import { posix } from "node:path";
import { parseArgs } from "node:util";
import { affectedTests, changedFiles } from "./affected-tests.ts";
import { importsIn } from "./layering/imports.ts";
import { rotatingSeed, sample } from "./sample.ts";
import { fastTests, runAll, SUITES, suiteOf } from "./steps.ts";

/** Most of the time of all fast tests goes into these: they start clusters, operators and processes. */
const WHOLE_PROGRAMS = /^(operators[\\/][^\\/]+[\\/]test|packages[\\/](cli|testing))[\\/]/;
const CHECKS = ["types", "types of the console's page", "lint", "layering", "words"];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    all: { type: "boolean", default: false },
    changed: { type: "boolean", default: false },
    since: { type: "string", default: "main" },
    seed: { type: "string" },
  },
});

if (positionals.length > 0) process.exit(await runNamed(positionals));
if (values.changed) process.exit(await runChanged(values.since));

let files = fastTests();
if (!values.all) {
  const [seed, long] = [rotatingSeed(values.seed), files.filter((file) => WHOLE_PROGRAMS.test(file))];
  const chosen = new Set(sample(long, 6, seed));
  files = files.filter((file) => !WHOLE_PROGRAMS.test(file) || chosen.has(file));
  console.log(
    `of operators, command and explorer: ${chosen.size} of ${long.length} test files; --seed ${seed} repeats this choice, --all runs all`,
  );
}
process.exit(await runAll([...CHECKS, "fast tests"], files));

/** Runs test files with what their suite needs, and the fast tests of folders. */
async function runNamed(names: readonly string[]): Promise<number> {
  const chosen = names.flatMap((name) => {
    const path = posix.normalize(name.replaceAll("\\", "/")).replace(/\/$/, "");
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.isDirectory()) {
      const inside = fastTests().filter((file) => file.startsWith(`${path}/`));
      if (inside.length > 0) return inside;
      console.error(`${name}: there are no fast tests in this folder`);
    } else if (!found) console.error(`${name}: there is no such file`);
    else if (path.endsWith(".test.ts")) return [path];
    else
      console.error(`${name}: not a test: name a file *.test.ts, or use --changed for the tests that a change affects`);
    return process.exit(1);
  });
  for (const [suite, members] of Map.groupBy(chosen, suiteOf)) {
    const code = await runAll([SUITES[suite]], members);
    if (code !== 0) return code;
  }
  return 0;
}

async function runChanged(base: string): Promise<number> {
  const sources = globSync("{packages,operators,tools,examples,bench,scripts}/**/*.ts", {
    exclude: (path) => /node_modules|\/dist\//.test(path),
  });
  const imports = importsIn(new Map(sources.map((file) => [file, readFileSync(file, "utf8")])));
  const changed = changedFiles(base);
  const affected = affectedTests(fastTests(), changed, { imports, exports: workspaceExports() });
  console.log(
    `${changed.length} files differ from ${base}; ${affected.length} of ${fastTests().length} fast test files can be affected`,
  );
  return runAll(affected.length > 0 ? [...CHECKS, "fast tests"] : CHECKS, affected);
}

/** The files behind the specifiers by which packages of the workspace are imported. */
function workspaceExports(): Map<string, string> {
  const found = new Map<string, string>();
  for (const manifest of globSync("{packages,operators,tools}/*/package.json")) {
    const { name, exports = {} } = JSON.parse(readFileSync(manifest, "utf8")) as {
      name: string;
      exports?: Record<string, string>;
    };
    for (const [subpath, file] of Object.entries(exports)) {
      found.set(posix.join(name, subpath), posix.join(posix.dirname(manifest), file));
    }
  }
  return found;
}
