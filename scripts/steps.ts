// The steps that npm scripts are made of. Each prints what it runs and how long it took.
import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";

const tests = (pattern: string) =>
  globSync(pattern, { exclude: (path) => path.includes("node_modules") || path.includes("dist") }).sort();

/** Fast tests live beside the code; those that need a real control plane are called *.real.test.ts. */
const fastTests = () =>
  tests("{packages,operators,tools,scripts,examples}/**/*.test.ts").filter((f) => !f.endsWith(".real.test.ts"));
const realTests = () => tests("{packages,operators,tools,scripts,examples}/**/*.real.test.ts");

const steps: Record<string, () => string[]> = {
  types: () => ["tsc", "--noEmit"],
  lint: () => ["biome", "check", "--error-on-warnings", "."],
  format: () => ["biome", "check", "--write", "."],
  layering: () => ["node", "scripts/layering.ts"],
  "fast tests": () => ["node", "--test", "--test-reporter=dot", ...reporters(), ...fastTests()],
  "real tests": () => ["node", "--test", "--test-concurrency=1", "--test-reporter=spec", ...realTests()],
};

function reporters(): string[] {
  return [
    "--test-reporter-destination=stderr",
    "--test-reporter=./scripts/summary-reporter.ts",
    "--test-reporter-destination=stdout",
  ];
}

export async function runAll(names: string[]): Promise<number> {
  for (const name of names) {
    const [command, ...args] = steps[name]!();
    const started = performance.now();
    const { status } = spawnSync(command!, args, { stdio: "inherit", shell: process.platform === "win32" });
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    console.error(`${status === 0 ? "ok  " : "FAIL"} ${name} (${seconds} s)`);
    if (status !== 0) return 1;
  }
  return 0;
}
