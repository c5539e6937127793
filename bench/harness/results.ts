import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, loadavg, totalmem } from "node:os";
import { join } from "node:path";

const folder = join(import.meta.dirname, "..", "results");

/** The machine, as a reader needs to know it. */
export function machine(): string {
  const [first] = cpus();
  const memory = Math.round(totalmem() / 2 ** 30);
  // Times mean little where many others want the same cores; ratios within one run and CPU seconds suffer less.
  const load = loadavg()[1]!.toFixed(0);
  const model = first?.model.trim() ?? "unknown";
  return `${cpus().length} cores (${model}), ${memory} GiB, Node ${process.versions.node}, load average ${load}`;
}

/** The commit that was measured. Results of other benchmarks do not change it. */
function commit(): string {
  const git = (...args: string[]) => execFileSync("git", args, { cwd: folder, encoding: "utf8" }).trim();
  mkdirSync(folder, { recursive: true });
  try {
    const others = ["--", ":/", ":(top,exclude)bench/results", ":(top,exclude)docs/benchmarks"];
    const isChanged = git("status", "--porcelain", ...others) !== "";
    return git("rev-parse", "--short", "HEAD") + (isChanged ? " with changes" : "");
  } catch {
    return "unknown"; // Not a git checkout.
  }
}

/** When, of what and where something was measured. */
export function origin(): { date: string; commit: string; machine: string } {
  return { date: new Date(Date.now()).toISOString().slice(0, 10), commit: commit(), machine: machine() };
}

/** A result with its origin, as Markdown. */
export function resultText(title: string, body: string): string {
  const { date, commit, machine } = origin();
  return `# ${title}\n\n${date}, commit ${commit}, ${machine}.\n\n${body.trim()}\n`;
}

/** Where a result is kept. */
export function resultPath(name: string): string {
  return join(folder, `${name}.md`);
}

/** Writes a result where it is kept, dated, and prints it. */
export function writeResult(name: string, title: string, body: string): void {
  const text = resultText(title, body);
  writeFileSync(resultPath(name), text);
  console.log(`\n${text}`);
}

/** A Markdown table. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

export const mebibytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(0);
