// The steps that npm scripts are made of. Each prints what it runs and how long it took.
import { spawn } from "node:child_process";
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join, relative } from "node:path";
import { whenParentDies } from "./parent-watch.ts";
import { groupedTests } from "./test-groups.ts";

const HOMES = "{packages,operators,tools,scripts,examples,bench}";

/**
 * Fast tests live beside the code. Those that need a real control plane are called *.real.test.ts; survival tests, which run a
 * scenario many times with a crash at each write or without each permission, *.proof.test.ts; those that start real nodes,
 * *.nodes.test.ts; those that drive a browser, *.browser.test.ts; those that use the packed packages, *.project.test.ts. Peers'
 * programs have to be built first.
 */
function tests(suite: Suite): string[] {
  const files = globSync(`${HOMES}/**/*.test.ts`, { exclude: (path) => /node_modules|\/dist\//.test(path) });
  return files.filter((file) => suiteOf(file) === suite).sort();
}

/** The step that runs each suite. */
export const SUITES = {
  fast: "fast tests",
  real: "real tests",
  proof: "proofs",
  nodes: "real nodes",
  browser: "browser tests",
  project: "a new project",
  peer: "peers' programs",
} as const;

export type Suite = keyof typeof SUITES;

export function suiteOf(file: string): Suite {
  const named = /\.(real|proof|nodes|browser|project)\.test\.ts$/.exec(file)?.[1] as Suite | undefined;
  return named === "real" && file.startsWith(join("tools", "peers")) ? "peer" : (named ?? "fast");
}

/** Progress goes to standard error; what failed, what was skipped and the closing line go to standard output. */
const REPORTERS = [
  "--test-reporter=dot",
  "--test-reporter-destination=stderr",
  "--test-reporter=./scripts/summary-reporter.ts",
  "--test-reporter-destination=stdout",
];

/** Two more than there are cores: some tests wait for processes and sockets. */
const PROCESSES = availableParallelism() + 2;

const WITHOUT_ASYNC_HOOKS = ["--import=./scripts/test-without-async-hooks.mjs"];

export const fastTests = () => tests("fast");
/** The suites that need a real control plane. */
export const realTests = () => tests("real");
/** Survival tests. */
export const proofTests = () => tests("proof");

const steps: Record<string, (files: readonly string[]) => string[]> = {
  // Only what has changed since the last time is checked again.
  types: () => ["tsc", "--noEmit", "--incremental", "--tsBuildInfoFile", "dist/types.tsbuildinfo"],
  "types of the console's page": () => ["tsc", "--noEmit", "-p", "packages/console/page"],
  lint: () => ["biome", "check", "--error-on-warnings", "."],
  format: () => ["biome", "check", "--write", "."],
  layering: () => ["node", "scripts/layering.ts"],
  words: () => ["node", "scripts/docs/words.ts"],
  "fast tests": (files) => [
    "node",
    "--test",
    `--test-concurrency=${PROCESSES}`,
    // Of a whole process, and so of a quarter of all files with two cores, on a machine that is busy with other things.
    "--test-timeout=1800000",
    // Short-lived objects, of which scenarios make many, are collected more cheaply with more room.
    "--max-semi-space-size=64",
    ...WITHOUT_ASYNC_HOOKS,
    ...REPORTERS,
    ...groupedTests(files.length > 0 ? files : fastTests(), PROCESSES),
  ],
  proofs: (files) => [
    "node",
    "--test",
    `--test-concurrency=${Math.max(2, availableParallelism())}`,
    "--test-timeout=3600000",
    ...WITHOUT_ASYNC_HOOKS,
    ...REPORTERS,
    ...(files.length > 0 ? files : tests("proof")),
  ],
  "browser tests": (files) => [
    "node",
    "--test",
    "--test-concurrency=1",
    "--test-timeout=300000",
    ...REPORTERS,
    ...(files.length > 0 ? files : tests("browser")),
  ],
  // Three files at a time: they mostly wait for clusters and programs.
  "peers' programs": (files) => [
    "node",
    "--test",
    "--test-concurrency=3",
    "--test-timeout=600000",
    ...REPORTERS,
    ...(files.length > 0 ? files : tests("peer")),
  ],
  "a new project": (files) => [
    "node",
    "--test",
    "--test-timeout=1200000",
    "--test-reporter=./scripts/scenario-reporter.ts",
    "--test-reporter-destination=stdout",
    ...REPORTERS.slice(2),
    ...(files.length > 0 ? files : tests("project")),
  ],
  // One file at a time, and so one cluster with its two nodes; each scenario is printed with how long it took. Images are made the
  // first time, which takes minutes.
  "real nodes": (files) => [
    "node",
    "--test",
    "--test-concurrency=1",
    "--test-timeout=2700000",
    "--test-reporter=./scripts/scenario-reporter.ts",
    "--test-reporter-destination=stdout",
    ...REPORTERS.slice(2),
    ...(files.length > 0 ? files : tests("nodes")),
  ],
  // More files at a time than two cores: each starts its own control plane, and mostly waits for it.
  "real tests": (files) => [
    "node",
    "--test",
    "--test-concurrency=3",
    "--test-timeout=300000",
    ...REPORTERS,
    ...(files.length > 0 ? files : realTests()),
  ],
};

/**
 * Steps with other projects' programs, whose timing can break a test. Files that failed there are run again, one at a time;
 * that is printed, and only what fails again counts.
 */
const TRIED_TWICE: ReadonlySet<string> = new Set(["real tests", "peers' programs"]);

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Runs steps in order until one fails; `files` narrows what is tested. */
export async function runAll(names: string[], files: readonly string[] = []): Promise<number> {
  for (const name of names) {
    const started = performance.now();
    const passed = await (TRIED_TWICE.has(name) ? triedTwice(name, files) : runStep(name, files));
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    console.error(`${passed ? "ok  " : "FAIL"} ${name} (${seconds} s)`);
    if (!passed) return 1;
  }
  return 0;
}

/** A step ends with this process, also if this one is killed: test runners and their files would go on for minutes. */
async function runStep(name: string, files: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<boolean> {
  const [command, ...args] = steps[name]!(files);
  const child = spawn(command!, args, { stdio: "inherit", env, shell: process.platform === "win32" });
  const stop = () => {
    child.kill("SIGTERM");
    process.exitCode = 1;
  };
  for (const signal of SIGNALS) process.on(signal, stop);
  whenParentDies(stop);
  const { promise: ended, resolve } = Promise.withResolvers<number | null>();
  child.on("exit", resolve);
  child.on("error", (error) => {
    console.error(`${command} does not start: ${error.message}`);
    resolve(null);
  });
  const code = await ended;
  for (const signal of SIGNALS) process.off(signal, stop);
  return code === 0;
}

async function triedTwice(name: string, files: readonly string[]): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), "konverge-tests-"));
  try {
    const list = join(folder, "failed.json");
    if (await runStep(name, files, { ...process.env, FAILED_FILES: list })) return true;
    if (!existsSync(list)) return false;
    const failed = JSON.parse(readFileSync(list, "utf8")) as string[];
    console.log(`\nRunning again:\n${failed.map((file) => `  ${relative(process.cwd(), file)}`).join("\n")}`);
    let passed = true;
    for (const file of failed) passed = (await runStep(name, [file])) && passed;
    return passed;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
