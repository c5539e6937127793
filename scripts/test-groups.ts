// Unit tests take milliseconds; a process that loads their modules takes most of a second of CPU time. Neighbors share one.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";

/** Git ignores it, and so do compiler and linter. The test runner finds nothing below node_modules. */
const FOLDER = join("dist", "test-groups");
/** Few enough that the groups spread evenly over the cores, and that one stays far below the time limit of a file. */
const LARGEST = 10;
/** What a file does to its whole process, or measures of it: such a file has a process to itself. */
const PROCESS_WIDE =
  /\bprocess\.(?!cwd\(\)|platform\b|execPath\b|versions?\b|pid\b|arch\b)|\bmock\.|node:(child_process|worker_threads|v8|module)\b|^(before|after)(Each)?\(/m;

/**
 * What to hand to the test runner: scenarios and other files that stand alone first, since they take longest, then unit tests
 * in groups. A group is a module that imports its files.
 */
export function groupedTests(files: readonly string[], folder = FOLDER): string[] {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const alone = files.filter((file) => !isUnitTest(file) || PROCESS_WIDE.test(readFileSync(file, "utf8")));
  const shared = Map.groupBy(
    files.filter((file) => !alone.includes(file)),
    homeOf,
  );
  const groups = [...shared].flatMap(([home, members]) =>
    chunks(members).map((chunk, i) => {
      const group = join(folder, `${home.replaceAll("/", "-")}-${i + 1}.mjs`);
      writeFileSync(group, chunk.map((file) => `import ${JSON.stringify(pathToFileURL(file).href)};\n`).join(""));
      return group;
    }),
  );
  return [...alone, ...groups];
}

/** `packages/core/src`, `examples`. */
export function homeOf(file: string): string {
  const [first, second, third] = relative(".", file).split(/[\\/]/);
  return first === "examples" ? first : third === "src" ? `${first}/${second}/${third}` : dirname(file);
}

/** Tests in `test` folders, and those of the command, start clusters and processes and take seconds. */
const isUnitTest = (file: string) => !/(^|[\\/])(test|packages[\\/]cli)[\\/]/.test(file);

function chunks(files: readonly string[]): string[][] {
  const size = Math.ceil(files.length / Math.ceil(files.length / LARGEST));
  return Array.from({ length: Math.ceil(files.length / size) }, (_, i) => files.slice(i * size, (i + 1) * size));
}
