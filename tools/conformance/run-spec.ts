import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type E2eResult, runE2e } from "./e2e-process.ts";
import { type GinkgoReport, passedIn, type Spec } from "./specs.ts";

/** What became of a spec. */
export interface SpecResult {
  readonly spec: Spec;
  readonly passed: boolean;
  /** It did not pass beside others in one process, and was run again. */
  readonly secondTry: boolean;
  /** Why it did not pass, in one line. */
  readonly reason: string;
  /** All that e2e.test said. */
  readonly output: string;
}

/** Where specs run, and how long each may take. */
export interface SpecRun {
  readonly e2e: string;
  readonly kubeconfig: string;
  readonly kubectl: string;
  readonly timeoutSeconds: number;
  /** How many specs a process runs, one after the other: most of what a short spec costs is the start of e2e.test. */
  readonly batch: number;
}

/** How long a spec that ran out of time may clean up after itself before it is killed. */
const CLEANUP_SECONDS = 30;

/** Runs one spec in a separate process. */
export async function runSpec(spec: Spec, run: SpecRun): Promise<SpecResult> {
  const { timeoutSeconds } = run;
  return inFolder(async (folder) => {
    const result = await runE2e(run.e2e, folder, {
      flags: flagsFor([spec], run),
      limitSeconds: timeoutSeconds + CLEANUP_SECONDS,
    });
    const output = withoutSkipped(result.output);
    return { spec, secondTry: false, ...verdict(result, timeoutSeconds), output };
  });
}

/** Runs specs in one process, and says which of them have passed. Of the others nothing is said: some may not have run. */
export async function passedTogether(specs: readonly Spec[], run: SpecRun): Promise<ReadonlySet<string>> {
  return inFolder(async (folder) => {
    const report = join(folder, "report.json");
    await runE2e(run.e2e, folder, {
      flags: [...flagsFor(specs, run), `--ginkgo.json-report=${report}`],
      limitSeconds: run.timeoutSeconds + CLEANUP_SECONDS,
    });
    return existsSync(report) ? passedIn(JSON.parse(readFileSync(report, "utf8")) as GinkgoReport[]) : new Set();
  });
}

function flagsFor(specs: readonly Spec[], { kubeconfig, kubectl, timeoutSeconds }: SpecRun): string[] {
  return [
    "--provider=skeleton",
    `--kubeconfig=${kubeconfig}`,
    `--kubectl-path=${kubectl}`,
    "--allowed-not-ready-nodes=-1",
    "--minStartupPods=-1",
    `--ginkgo.focus=(${specs.map(({ name }) => escapeGoPattern(name)).join("|")})$`,
    `--ginkgo.timeout=${timeoutSeconds}s`,
    "--ginkgo.grace-period=10s",
  ];
}

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "konverge-conformance-"));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A text as a Go regular expression that matches it alone. */
export function escapeGoPattern(text: string): string {
  return text.replaceAll(/[\\.+*?()|[\]{}^$]/g, "\\$&");
}

/** Judges a run by what Ginkgo says at its end: only a spec that ran and passed has passed. */
export function verdict({ code, output }: E2eResult, timeoutSeconds: number): { passed: boolean; reason: string } {
  if (code === 0 && /\b1 Passed \| 0 Failed\b/.test(output)) return { passed: true, reason: "" };
  const at = /In \[[^\]]*\] at: (\S+)/.exec(output)?.[1]?.replace(/^.*\/test\//, "test/");
  const place = at ? ` (${at})` : "";
  if (/\[TIMEDOUT\]/.test(output)) return { passed: false, reason: `no end within ${timeoutSeconds} s${place}` };
  if (code === null) return { passed: false, reason: `no end within ${timeoutSeconds} s, nor after cleaning up` };
  const failure = /^\s+\[(?:FAILED|PANICKED)\] (?!in \[)([\s\S]*?)\n\s*In \[/m.exec(output)?.[1];
  if (failure) return { passed: false, reason: `${oneLine(failure)}${place}` };
  const skipped = /\[SKIPPED\] ([\s\S]*?)\n/.exec(output)?.[1];
  if (skipped) return { passed: false, reason: `skipped: ${oneLine(skipped)}` };
  // Ginkgo reports the reason only in its verbose output.
  if (code === 0 && /\b0 Passed \| 0 Failed\b/.test(output))
    return { passed: false, reason: "skipped: by the spec itself" };
  return { passed: false, reason: `exit code ${code}: ${oneLine(output.slice(-300))}` };
}

/** A letter for each of the thousands of specs that were not asked for. */
function withoutSkipped(output: string): string {
  return output.replaceAll(/^S+$/gm, "");
}

function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > 400 ? `${line.slice(0, 400)} …` : line;
}
