// `npm run docs`: runs every command and code block of the README, the guide, the reference and the operators' READMEs, in
// order, each document in a separate folder, and checks the types of all of it. As many documents as there are cores are run at a
// time: clusters in them have different names.
//
//   ```sh                    every line is a command
//   ```ts file=operator.ts   is written to that file
//   ```ts                    is run
//   ```yaml file=a.yaml      is written to that file
//   ```text output           what the commands just before it print; `…` stands for anything
//
// A block that cannot be run says why, behind `not-run:`; there should be few.
import { execFile, spawnSync } from "node:child_process";
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { type Block, blocksOf } from "./blocks.ts";

/** Commands that CI runs anyway, and that would run this script again. */
const RUN_ELSEWHERE = new Set([
  "npm test",
  "npm run test:real",
  "npm run docs",
  "npm run test:differential",
  "npm run real:build",
  "npm run helm:build",
]);

/** Each document has a separate folder below it. */
const FOLDER = resolve(".konverge/docs");

const documents =
  process.argv.length > 2
    ? process.argv.slice(2)
    : [
        "README.md",
        ...globSync("docs/{guide,reference}/*.md").sort(),
        ...globSync("{packages,operators}/*/README.md").sort(),
        // The other tutorials' steps are run by the operators' own tests and by the checklist.
        ...globSync("operators/{ray,seldon}/tutorial/README.md").sort(),
      ];
rmSync(FOLDER, { recursive: true, force: true });
let passed = 0;
const failures: string[] = [];
let skipped = 0;
const waiting = documents.values();
await Promise.all(
  Array.from({ length: availableParallelism() }, async () => {
    for (const document of waiting) await runDocument(document);
  }),
);
checkTypes();
for (const failure of failures) console.log(`\n✖ ${failure}`);
console.log(`\n${passed} passed, ${failures.length} failed, ${skipped} skipped`);
process.exitCode = failures.length === 0 ? 0 : 1;

async function runDocument(document: string): Promise<void> {
  const folder = join(FOLDER, dirname(document), basename(document, ".md"));
  mkdirSync(folder, { recursive: true });
  let output = "";
  for (const block of blocksOf(readFileSync(document, "utf8"))) {
    const where = `${document}:${block.line}`;
    const problem = block.info.startsWith("not-run:") ? skip(where, block) : await runBlock(block, folder, output);
    if (problem === "skipped") continue;
    if ("failed" in problem) failures.push(`${where}: ${problem.failed}`);
    else passed++;
    if ("output" in problem) output = problem.output;
  }
}

/** Whether an editor would find fault with the code that readers copy. */
function checkTypes(): void {
  writeFileSync(
    join(FOLDER, "tsconfig.json"),
    JSON.stringify({
      extends: resolve("tsconfig.json"),
      compilerOptions: { noUnusedLocals: false },
      include: ["**/*.ts", resolve("packages/*/src/**/*.d.ts")],
    }),
  );
  const { status, stdout } = spawnSync("tsc", ["--noEmit", "-p", FOLDER], { encoding: "utf8" });
  if (status === 0) passed++;
  else failures.push(`the code in the documents has mistakes of type:\n${stdout}`);
}

function skip(where: string, block: Block): "skipped" {
  console.log(`not run: ${where}: ${block.info.slice("not-run:".length).trim()}`);
  skipped++;
  return "skipped";
}

type Outcome = { output: string } | { failed: string } | { written: true };

async function runBlock(block: Block, folder: string, before: string): Promise<Outcome> {
  const file = /file=(\S+)/.exec(block.info)?.[1];
  if (file) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), `${block.text}\n`);
    return { written: true };
  }
  if (block.info.startsWith("output"))
    return matches(before, block.text) ? { written: true } : { failed: `the output is not as shown:\n${before}` };
  if (block.language === "ts") {
    const name = `block-${block.line}.ts`;
    writeFileSync(join(folder, name), `${block.text}\n`);
    return command(`node ${name}`, folder);
  }
  if (block.language !== "sh")
    return {
      failed: `a ${block.language || "plain"} block is neither run nor written: give it a file name, or say not-run`,
    };
  let output = "";
  for (const line of block.text.split("\n").filter((text) => text.trim() !== "" && !text.startsWith("#"))) {
    if (RUN_ELSEWHERE.has(line.replace(/\s+#.*/, "").trim())) continue;
    const outcome = await command(line, folder);
    if ("failed" in outcome) return outcome;
    if ("output" in outcome) output += outcome.output;
  }
  return { output };
}

/** npm scripts are the repository's, everything else belongs to the document's own folder. */
async function command(line: string, folder: string): Promise<Outcome> {
  const cwd = line.startsWith("npm ") || line.startsWith("make ") ? process.cwd() : folder;
  const options = { cwd, timeout: 300_000, maxBuffer: 1e8 };
  try {
    const running = promisify(execFile)("bash", ["-euo", "pipefail", "-c", line], options);
    running.child.stdin?.end();
    return { output: (await running).stdout };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number | null; stdout: string; stderr: string };
    const how = code ?? "no status: it was still running after five minutes";
    return { failed: `\`${line}\` ended with ${how}\n${stdout}${stderr}` };
  }
}

function matches(actual: string, shown: string): boolean {
  const literal = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/\s+/g, "\\s+");
  const pattern = shown.trim().split("…").map(literal).join("[^]*?");
  return new RegExp(`^\\s*${pattern}\\s*$`).test(actual);
}
