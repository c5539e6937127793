// The steps that npm scripts are made of. Each prints what it runs and how long it took.
import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join, relative } from "node:path";

const HOMES = "{packages,operators,tools,scripts,examples}";

/**
 * Fast tests live beside the code. Those that need a real control plane are called *.real.test.ts; those that play a scenario
 * again and again, with a crash at each write or without each right, *.proof.test.ts; those that start real nodes,
 * *.nodes.test.ts. Peers' programs have to be built first.
 */
function tests(tier: "fast" | "real" | "proof" | "nodes" | "peer"): string[] {
  const files = globSync(`${HOMES}/**/*.test.ts`, { exclude: (path) => /node_modules|\/dist\//.test(path) });
  const tierOf = (file: string) => {
    const named = /\.(real|proof|nodes)\.test\.ts$/.exec(file)?.[1] ?? "fast";
    return named === "real" && file.startsWith(join("tools", "peers")) ? "peer" : named;
  };
  return files.filter((file) => tierOf(file) === tier).sort();
}

/** Progress goes to standard error; what failed, what was skipped and the closing line go to standard output. */
const REPORTERS = [
  "--test-reporter=dot",
  "--test-reporter-destination=stderr",
  "--test-reporter=./scripts/summary-reporter.ts",
  "--test-reporter-destination=stdout",
];

/** The suites that need a real control plane. */
export const realTests = () => tests("real");
/** Those that play scenarios again and again. */
export const proofTests = () => tests("proof");

const steps: Record<string, (files: readonly string[]) => string[]> = {
  types: () => ["tsc", "--noEmit"],
  lint: () => ["biome", "check", "--error-on-warnings", "."],
  format: () => ["biome", "check", "--write", "."],
  layering: () => ["node", "scripts/layering.ts"],
  words: () => ["node", "scripts/docs/words.ts"],
  "fast tests": () => [
    "node",
    "--test",
    `--test-concurrency=${Math.max(2, availableParallelism())}`,
    "--test-timeout=120000",
    ...REPORTERS,
    ...tests("fast"),
  ],
  proofs: (files) => [
    "node",
    "--test",
    `--test-concurrency=${Math.max(2, availableParallelism())}`,
    "--test-timeout=900000",
    ...REPORTERS,
    ...(files.length > 0 ? files : tests("proof")),
  ],
  "peers' programs": () => [
    "node",
    "--test",
    "--test-concurrency=1",
    "--test-timeout=600000",
    ...REPORTERS,
    ...tests("peer"),
  ],
  // One file at a time, and so one cluster with its two nodes; each scenario is printed with how long it took.
  "real nodes": (files) => [
    "node",
    "--test",
    "--test-concurrency=1",
    "--test-timeout=900000",
    "--test-reporter=./scripts/scenario-reporter.ts",
    "--test-reporter-destination=stdout",
    ...REPORTERS.slice(2),
    ...(files.length > 0 ? files : tests("nodes")),
  ],
  // Two files at a time: each starts a control plane of its own, and mostly waits for it.
  "real tests": (files) => [
    "node",
    "--test",
    "--test-concurrency=2",
    "--test-timeout=300000",
    ...REPORTERS,
    ...(files.length > 0 ? files : realTests()),
  ],
};

/**
 * Steps beside other people's programs, whose own timing can spoil a test. Files that failed there are run once more, one at
 * a time; that is said, and only what fails again counts.
 */
const TRIED_TWICE: ReadonlySet<string> = new Set(["real tests", "peers' programs"]);

/** Runs steps in order until one fails; `files` narrows what is tested. */
export async function runAll(names: string[], files: readonly string[] = []): Promise<number> {
  for (const name of names) {
    const started = performance.now();
    const passed = TRIED_TWICE.has(name) ? triedTwice(name, files) : runStep(name, files);
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    console.error(`${passed ? "ok  " : "FAIL"} ${name} (${seconds} s)`);
    if (!passed) return 1;
  }
  return 0;
}

function runStep(name: string, files: readonly string[], env: NodeJS.ProcessEnv = process.env): boolean {
  const [command, ...args] = steps[name]!(files);
  const { status } = spawnSync(command!, args, { stdio: "inherit", env, shell: process.platform === "win32" });
  return status === 0;
}

function triedTwice(name: string, files: readonly string[]): boolean {
  const folder = mkdtempSync(join(tmpdir(), "konverge-tests-"));
  try {
    const list = join(folder, "failed.json");
    if (runStep(name, files, { ...process.env, FAILED_FILES: list })) return true;
    if (!existsSync(list)) return false;
    const failed = JSON.parse(readFileSync(list, "utf8")) as string[];
    console.log(`\nOnce more:\n${failed.map((file) => `  ${relative(process.cwd(), file)}`).join("\n")}`);
    return failed.filter((file) => !runStep(name, [file])).length === 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
