// What the published package costs before it does anything: its size when installed, the time to import it, and the memory of an
// operator with nothing to do.
//
//     npm run pack
//     node bench/package/run.ts                    this checkout
//     node bench/package/run.ts --before FOLDER    and a checkout of an older commit, in which `npm run pack` was run
//
// Each is installed from its tarball. The operator is that of bench/operator, which each checkout has in its own words.
import { execFileSync, spawnSync } from "node:child_process";
import { globSync, lstatSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { findControlPlane, startRealCluster } from "../../tools/real/index.ts";
import { endedCpuSeconds } from "../harness/processes.ts";
import { mebibytes, table, writeResult } from "../harness/results.ts";
import { OperatorProcess } from "../operator/operator-process.ts";
import { Widget } from "../operator/widget.ts";

const PROCESSES = 15;
const NAMES = { after: "this commit", before: "before" };

const { values } = parseArgs({ options: { before: { type: "string" } } });
const plane = findControlPlane();
if (!plane.available) {
  console.log(`skipped: ${plane.why}`);
  process.exit(0);
}

/** An installed package, and an operator that uses it. */
interface Installed {
  readonly name: string;
  readonly folder: string;
}

const made = mkdtempSync(join(tmpdir(), "konverge-package-"));
try {
  const checkouts: [string, string][] = [[NAMES.after, "."]];
  if (values.before !== undefined) checkouts.unshift([NAMES.before, values.before]);
  const all = checkouts.map(([name, checkout]) => installed(name, resolve(checkout)));
  const rows = [
    ["installed: MiB", ...all.map(({ folder }) => mebibytes(sizeOf(folder)))],
    ["installed: packages", ...all.map(({ folder }) => `${packagesIn(folder)}`)],
    ...importRows(all),
    ...(await operatorRows(all)),
  ];
  writeResult(
    "package",
    "What the published package costs before it does anything",
    `The package \`konverge\` and its dependencies, installed from the tarball that \`npm run pack\` makes. Import: a process that imports
it and ends, with a filled compile cache; the median of ${PROCESSES}, alternately, and below it the least; an empty Node stands beside it. Operator: the one
of [operator.md](operator.md) on a real API server without any objects, one second after it is idle; the median of five.

${table(["", ...all.map(({ name }) => name)], rows)}`,
  );
} finally {
  rmSync(made, { recursive: true, force: true });
}

/** Installs the tarball of a checkout, and writes its operator beside it. */
function installed(name: string, checkout: string): Installed {
  const folder = join(made, name.replaceAll(" ", "-"));
  const [tarball] = globSync(join(checkout, "dist", "konverge-[0-9]*.tgz"));
  if (tarball === undefined) throw new Error(`${checkout}: there is no package in dist: run npm run pack there`);
  execFileSync("npm", ["install", "--silent", "--no-audit", "--no-fund", "--prefix", folder, tarball], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  for (const file of ["operator", "widget"]) {
    const code = stripTypeScriptTypes(readFileSync(join(checkout, "bench", "operator", `${file}.ts`), "utf8"));
    writeFileSync(join(folder, `${file}.mjs`), code.replace(/(from "\.[^"]*)\.ts"/g, '$1.mjs"'));
  }
  writeFileSync(join(folder, "import.mjs"), 'import "konverge";\n');
  writeFileSync(join(folder, "nothing.mjs"), "");
  for (const program of ["import.mjs", "nothing.mjs"]) started(folder, program);
  execFileSync(process.execPath, ["operator.mjs", "compile"], { cwd: folder, env: environment(folder) });
  return { name, folder };
}

function environment(folder: string): NodeJS.ProcessEnv {
  return { ...process.env, NODE_COMPILE_CACHE: join(folder, "compiled") };
}

/** Milliseconds of real and of CPU time that a program takes. */
function started(folder: string, program: string): { readonly real: number; readonly cpu: number } {
  const [start, cpu] = [performance.now(), endedCpuSeconds()];
  const { status } = spawnSync(process.execPath, [program], {
    cwd: folder,
    env: environment(folder),
    stdio: "inherit",
  });
  if (status !== 0) throw new Error(`${program} ended with exit code ${status}`);
  return { real: performance.now() - start, cpu: 1000 * (endedCpuSeconds() - cpu) };
}

function importRows(all: readonly Installed[]): string[][] {
  const programs = ["import.mjs", "nothing.mjs"];
  const times = new Map<string, { real: number; cpu: number }[]>();
  for (let round = 0; round < PROCESSES; round++) {
    for (const { folder } of all) {
      for (const program of programs) {
        const key = `${folder} ${program}`;
        times.set(key, [...(times.get(key) ?? []), started(folder, program)]);
      }
    }
  }
  const cell = (program: string, value: (sample: { real: number; cpu: number }[]) => number) =>
    all.map(({ folder }) => value(times.get(`${folder} ${program}`)!).toFixed(0));
  const real = (samples: readonly { real: number }[]) => samples.map((one) => one.real);
  const cpu = (samples: readonly { cpu: number }[]) => samples.map((one) => one.cpu);
  return [
    ["import: ms", ...cell("import.mjs", (samples) => median(real(samples)))],
    ["import: least ms", ...cell("import.mjs", (samples) => Math.min(...real(samples)))],
    ["import: CPU ms", ...cell("import.mjs", (samples) => median(cpu(samples)))],
    ["empty Node: ms", ...cell("nothing.mjs", (samples) => median(real(samples)))],
  ];
}

async function operatorRows(all: readonly Installed[]): Promise<string[][]> {
  await using cluster = await startRealCluster();
  await cluster.kubectl(["apply", "-f", "-"], JSON.stringify(Widget.crd()));
  await cluster.kubectl(["wait", "--for=condition=Established", "crd", "--all", "--timeout=60s"]);
  const usages = new Map<string, { residentBytes: number; peakBytes: number }[]>();
  for (let round = 0; round < 5; round++) {
    for (const { folder } of all) {
      const env = { NODE_COMPILE_CACHE: join(folder, "compiled") };
      const command = [process.execPath, join(folder, "operator.mjs")];
      await using operator = new OperatorProcess({ command, env }, cluster.kubeconfig);
      await operator.idle();
      usages.set(folder, [...(usages.get(folder) ?? []), operator.usage()]);
    }
  }
  const cells = (field: "residentBytes" | "peakBytes") =>
    all.map(({ folder }) => mebibytes(median(usages.get(folder)!.map((usage) => usage[field]))));
  return [
    ["operator: resident MiB", ...cells("residentBytes")],
    ["operator: peak MiB", ...cells("peakBytes")],
  ];
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1]!;
}

function sizeOf(folder: string): number {
  const files = globSync("node_modules/**", { cwd: folder }).map((file) => lstatSync(join(folder, file)));
  return files.filter((file) => file.isFile()).reduce((sum, { size }) => sum + size, 0);
}

function packagesIn(folder: string): number {
  return globSync("node_modules/{*,@*/*}/package.json", { cwd: folder }).length;
}
