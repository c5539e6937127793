// What an operator's suite in Go costs that uses envtest: with what `konverge envtest` writes, and with the real binaries.
//   node bench/cluster/envtest-suite.ts [rounds]
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findControlPlane } from "@konverge/real";
import { table, writeResult } from "../harness/results.ts";

const [rounds = 5] = process.argv.slice(2).map(Number);
const root = join(import.meta.dirname, "..", "..");
const suiteFolder = join(root, "packages", "cluster", "test", "envtest-go");
const plane = findControlPlane();
if (!plane.available) throw new Error(`there is nothing to compare with: ${plane.why}`);

/** CPU seconds of all child processes that have ended, where the system reports them. */
function cpuOfChildren(): number {
  if (!existsSync("/proc/self/stat")) return Number.NaN;
  const fields = readFileSync("/proc/self/stat", "utf8").split(") ")[1]!.split(" ");
  return (Number(fields[13]) + Number(fields[14])) / 100;
}

function must(command: string, args: readonly string[], options: { cwd?: string; env?: NodeJS.ProcessEnv } = {}) {
  const { status, stdout, stderr } = spawnSync(command, args, { ...options, encoding: "utf8", timeout: 900_000 });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} has failed:\n${stdout}${stderr}`);
  return stdout;
}

const folder = mkdtempSync(join(tmpdir(), "konverge-envtest-"));
try {
  const suite = join(folder, "suite.test");
  must("go", ["test", "-c", "-o", suite, "."], { cwd: suiteFolder });
  const embedded = join(folder, "assets");
  must(process.execPath, [join(root, "packages", "cli", "bin", "konverge.js"), "envtest", "--folder", embedded]);

  const measured = { embedded: [] as number[][], real: [] as number[][] };
  for (let round = 0; round < rounds; round++) {
    for (const [who, assets] of [
      ["embedded", embedded],
      ["real", plane.folder],
    ] as const) {
      const [begun, cpuBefore] = [performance.now(), cpuOfChildren()];
      const said = must(suite, ["-test.v"], { cwd: suiteFolder, env: { ...process.env, KUBEBUILDER_ASSETS: assets } });
      const started = /environment started in ([\d.]+)(m?s)/.exec(said);
      const seconds = Number(started?.[1]) / (started?.[2] === "ms" ? 1000 : 1);
      measured[who].push([seconds, (performance.now() - begun) / 1000, cpuOfChildren() - cpuBefore]);
    }
  }
  const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
  const column = (all: readonly number[][], index: number) => median(all.map((one) => one[index]!));
  const rows = ["environment started, s", "whole suite, s", "CPU of the whole suite, s"].map((what, index) => {
    const [ours, theirs] = [column(measured.embedded, index), column(measured.real, index)];
    return [what, ours.toFixed(2), theirs.toFixed(2), (theirs / ours).toFixed(1)];
  });
  writeResult(
    "envtest-suite",
    "An envtest suite in Go",
    `The suite of packages/cluster/test/envtest-go, compiled once, run ${rounds} times with each, alternating; medians.

${table(["", "konverge envtest", "kube-apiserver and etcd", "ratio"], rows)}`,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
