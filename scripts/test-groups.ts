// A process that loads the modules of a test takes about a second of CPU time, and twice that again until its code is compiled
// well: files share as few processes as keep all cores busy.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** Git ignores it, and so do compiler and linter. The test runner finds nothing below node_modules. */
const FOLDER = join("dist", "test-groups");
/** What a file does to its whole process, or measures of it: such a file has a process to itself. */
const PROCESS_WIDE =
  /\bprocess\.(exit|on|once|emit|chdir|umask|argv|std(in|out|err)|memoryUsage|cpuUsage|resourceUsage)\b|\bprocess\.env(\.\w+|\[[^\]]+\])?\s*(\?\?)?=(?!=)|\bdelete process\.env\b|\bmock\.|node:(worker_threads|v8|module)\b|^(before|after)Each\(/m;

/**
 * What to hand to the test runner, which runs `processes` at a time: groups of scenarios first, since they take longest, then
 * groups of unit tests, then files that stand alone, which are short. A group is a module that imports its files. Neighbors take
 * about as long as each other, so they are dealt out to different groups.
 */
export function groupedTests(files: readonly string[], processes: number, folder = FOLDER): string[] {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const alone = files.filter((file) => PROCESS_WIDE.test(readFileSync(file, "utf8")));
  const shared = files.filter((file) => !alone.includes(file));
  const groups = (name: string, members: readonly string[]) =>
    Array.from({ length: Math.min(processes, members.length) }, (_, i) => {
      const group = join(folder, `${name}-${i + 1}.mjs`);
      const own = members.filter((_, place) => place % processes === i);
      writeFileSync(group, own.map((file) => `import ${JSON.stringify(pathToFileURL(file).href)};\n`).join(""));
      return group;
    });
  const units = shared.filter((file) => !isScenario(file));
  return [...groups("scenarios", shared.filter(isScenario)), ...groups("units", units), ...alone];
}

/** Tests in `test` folders, and those of the command, start clusters and processes and take seconds. */
const isScenario = (file: string) => /(^|[\\/])(test|packages[\\/]cli)[\\/]/.test(file);
