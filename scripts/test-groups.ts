// A process that loads the modules of a test takes about a second of CPU time, and as much again until its code is compiled well.
// Neighbors share one.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";

/** Git ignores it, and so do compiler and linter. The test runner finds nothing below node_modules. */
const FOLDER = join("dist", "test-groups");
/** Few enough that the groups spread evenly over the cores, and that one stays far below the time limit of a file. */
const LARGEST = { units: 16, scenarios: 5 };
/** What a file does to its whole process, or measures of it: such a file has a process to itself. */
const PROCESS_WIDE =
  /\bprocess\.(env|exit|on|once|emit|chdir|umask|argv|std(in|out|err)|memoryUsage|cpuUsage|resourceUsage)\b|\bmock\.|node:(worker_threads|v8|module)\b|^(before|after)Each\(/m;

/**
 * What to hand to the test runner: files that stand alone first, then groups of scenarios, since they take longest, then groups
 * of unit tests. A group is a module that imports its files.
 */
export function groupedTests(files: readonly string[], folder = FOLDER): string[] {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const alone = files.filter((file) => PROCESS_WIDE.test(readFileSync(file, "utf8")));
  const shared = files.filter((file) => !alone.includes(file));
  const groups = (members: readonly string[], largest: number) =>
    [...Map.groupBy(members, homeOf)].flatMap(([home, neighbors]) =>
      chunks(neighbors, largest).map((chunk, i) => {
        const group = join(folder, `${home.replaceAll("/", "-")}-${i + 1}.mjs`);
        writeFileSync(group, chunk.map((file) => `import ${JSON.stringify(pathToFileURL(file).href)};\n`).join(""));
        return group;
      }),
    );
  const scenarios = shared.filter(isScenario);
  return [
    ...alone,
    ...groups(scenarios, LARGEST.scenarios),
    ...groups(
      shared.filter((file) => !scenarios.includes(file)),
      LARGEST.units,
    ),
  ];
}

/** `packages/core/src`, `operators/ray/test`, `examples`. */
export function homeOf(file: string): string {
  const [first, second, third] = relative(".", file).split(/[\\/]/);
  return first === "examples"
    ? first
    : third === "src" || third === "test"
      ? `${first}/${second}/${third}`
      : dirname(file);
}

/** Tests in `test` folders, and those of the command, start clusters and processes and take seconds. */
const isScenario = (file: string) => /(^|[\\/])(test|packages[\\/]cli)[\\/]/.test(file);

function chunks(files: readonly string[], largest: number): string[][] {
  const size = Math.ceil(files.length / Math.ceil(files.length / largest));
  return Array.from({ length: Math.ceil(files.length / size) }, (_, i) => files.slice(i * size, (i + 1) * size));
}
