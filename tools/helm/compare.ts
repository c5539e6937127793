// npm run helm:compare [-- --only PATTERN]
// Renders public charts with Helm's engine as the operators run it, and with the `helm` command, and compares each byte.
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { HelmEngine, readChart, templateText } from "@konverge/declarative/helm-engine";
import { downloadModule } from "@konverge/real/go-module.ts";
import { CHART_MODULES, type ChartModule } from "./charts.ts";
import { helmCommand } from "./helm-command.ts";

type Outcome = "equal" | "different" | "random" | "both refuse it" | "not rendered";

const { values } = parseArgs({ options: { only: { type: "string" } } });
if (!existsSync(helmCommand())) {
  execFileSync(process.execPath, [join(import.meta.dirname, "build.ts"), "--helm"], { stdio: "inherit" });
}
const engine = new HelmEngine({ timeMs: 60_000 });
const counts = new Map<Outcome, number>();
const milliseconds: number[] = [];
for (const module of CHART_MODULES) {
  if (values.only && !module.module.includes(values.only)) continue;
  compareModule(module);
}
console.log([...counts].map(([outcome, count]) => `${outcome}: ${count}`).join(", "));
milliseconds.sort((a, b) => a - b);
const at = (share: number) => Math.round(milliseconds[Math.floor((milliseconds.length - 1) * share)] ?? 0);
console.log(`engine: half within ${at(0.5)} ms, 90 % within ${at(0.9)} ms, slowest ${at(1)} ms`);
process.exit(counts.has("different") || counts.has("not rendered") ? 1 : 0);

function compareModule({ module, version, charts }: ChartModule): void {
  const { Dir } = downloadModule(tmpdir(), `${module}@${version}`);
  const folders = charts
    .flatMap((pattern) => globSync(join(pattern, "Chart.yaml"), { cwd: Dir }))
    .map((file) => join(Dir, file, ".."))
    .sort();
  for (const folder of folders) {
    const outcome = withDependencies(folder, Dir, compare);
    counts.set(outcome.is, (counts.get(outcome.is) ?? 0) + 1);
    console.log(`${module} ${basename(folder)}: ${outcome.is}${outcome.why ? `: ${outcome.why}` : ""}`);
  }
}

/** A copy of a chart, with those of its dependencies that the same module has; `helm dependency build` would need a network. */
function withDependencies<R>(folder: string, module: string, use: (chart: string) => R): R {
  const work = mkdtempSync(join(tmpdir(), "chart-"));
  try {
    const copy = join(work, basename(folder));
    copyChart(folder, copy, module, 0);
    return use(copy);
  } finally {
    spawnSync("chmod", ["-R", "u+w", work]);
    rmSync(work, { recursive: true, force: true });
  }
}

function copyChart(from: string, to: string, module: string, depth: number): void {
  cpSync(from, to, { recursive: true, dereference: true });
  spawnSync("chmod", ["-R", "u+w", to]);
  const names = [...readFileSync(join(from, "Chart.yaml"), "utf8").matchAll(/^\s*(?:- )?name: ["']?([\w-]+)/gm)];
  for (const [, name] of names.slice(0, depth > 5 ? 0 : undefined)) {
    const target = join(to, "charts", name!);
    const found = [join(from, "..", name!), join(module, "charts", name!)].find((one) =>
      existsSync(join(one, "Chart.yaml")),
    );
    if (found && basename(from) !== name && !existsSync(target)) copyChart(found, target, module, depth + 1);
  }
}

function compare(chart: string): { is: Outcome; why?: string } {
  const expected = helm(chart);
  const start = performance.now();
  const actual = rendered(chart);
  milliseconds.push(performance.now() - start);
  if (actual.text !== undefined && actual.text === expected.text) return { is: "equal" };
  if (expected.text === undefined && actual.text === undefined) {
    return { is: "both refuse it", why: actual.error!.split("\n")[0]!.slice(0, 160) };
  }
  if (expected.text !== undefined && helm(chart).text !== expected.text) return { is: "random" };
  if (actual.text === undefined) return { is: "not rendered", why: actual.error! };
  return {
    is: "different",
    why: expected.text === undefined ? `helm: ${expected.error}` : difference(expected.text, actual.text),
  };
}

function helm(chart: string): { text?: string; error?: string } {
  const { status, stdout, stderr } = spawnSync(helmCommand(), ["template", "release-name", chart], {
    encoding: "utf8",
    maxBuffer: 2 ** 28,
    env: { HOME: tmpdir(), PATH: "/usr/bin" },
  });
  return status === 0 ? { text: stdout } : { error: stderr };
}

function rendered(chart: string): { text?: string; error?: string } {
  const release = { name: "release-name", namespace: "default", revision: 1, upgrade: false };
  try {
    return { text: templateText(engine.render({ chart: readChart(chart), release, now: Date.now(), seed: "" })) };
  } catch (error) {
    return { error: (error as Error).message };
  }
}

function difference(expected: string, actual: string): string {
  const [wanted, found] = [expected.split("\n"), actual.split("\n")];
  const line = wanted.findIndex((text, i) => text !== found[i]);
  return `line ${line + 1}: ${JSON.stringify(wanted[line])} is ${JSON.stringify(found[line])}`;
}
