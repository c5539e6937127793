// Prints what failed or is still to do, the slowest tests, and one closing line: N passed, N failed, N skipped. Where a second
// try is to follow (FAILED_FILES names a file), the files with failures are written there, and counted by it.
import { writeFileSync } from "node:fs";
import { relative } from "node:path";
import type { TestEvent } from "node:test/reporters";
import { whenParentDies } from "./parent-watch.ts";

const SLOWEST = 10;
/** Milliseconds without the end of a test after which the running ones are named: one of them may hang. */
const SILENCE = 300_000;

export default async function* summary(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const skips = new Map<string, number>();
  const failedFiles = new Set<string>();
  const durations: { readonly name: string; readonly file: string; readonly ms: number }[] = [];
  const running = new Set<string>();
  const silence = setInterval(() => {
    console.error(`\nno test has ended for ${SILENCE / 60_000} minutes; running: ${[...running].join(", ")}`);
  }, SILENCE).unref();
  // This runs in the runner, which would go on with all files.
  whenParentDies(() => process.kill(process.pid, "SIGTERM"));
  for await (const event of events) {
    if (event.type === "test:dequeue") running.add(labelOf(event.data));
    if (event.type === "test:complete") {
      running.delete(labelOf(event.data));
      silence.refresh();
    }
    // Of a suite that is skipped, no test is declared: it counts as one.
    if (event.type === "test:pass" && (event.data.details.type !== "suite" || event.data.skip !== undefined)) {
      if (event.data.skip !== undefined) {
        counts.skipped++;
        skips.set(String(event.data.skip), (skips.get(String(event.data.skip)) ?? 0) + 1);
      } else {
        counts.passed++;
        const { name, file, details } = event.data;
        durations.push({ name, file: relative(process.cwd(), file ?? ""), ms: details.duration_ms });
      }
    }
    // A failed test names the file that declares it, which may be shared by many: the summary names the one that was run.
    if (event.type === "test:summary" && event.data.file && !event.data.success) failedFiles.add(event.data.file);
    // What an exploration tried, and how long it took.
    if (event.type === "test:diagnostic" && event.data.message.startsWith("explored ")) yield `${event.data.message}\n`;
    if (event.type === "test:fail" && event.data.details.type !== "suite") {
      if (event.data.todo !== undefined) {
        counts.skipped++;
        yield `to do: ${event.data.name}: ${event.data.todo}\n`;
        continue;
      }
      counts.failed++;
      const { name, file, line, details } = event.data;
      const cause = (details.error.cause ?? details.error) as Error;
      yield `\n✖ ${name} (${file}:${line})\n${cause.stack ?? cause.message ?? cause}\n`;
    }
  }
  for (const [reason, count] of skips) yield `skipped ${count}: ${reason}\n`;
  if (durations.length > SLOWEST) yield slowestText(durations);
  const { passed, failed, skipped } = counts;
  const list = process.env.FAILED_FILES;
  if (list && failedFiles.size > 0) {
    writeFileSync(list, JSON.stringify([...failedFiles]));
    yield `\n${passed} passed, 0 failed, ${skipped} skipped, ${failed} to be tried again\n`;
  } else yield `\n${passed} passed, ${failed} failed, ${skipped} skipped\n`;
}

const labelOf = ({ name, file, line }: { name: string; file?: string; line?: number }) =>
  `${name} (${relative(process.cwd(), file ?? "")}:${line})`;

function slowestText(
  durations: readonly { readonly name: string; readonly file: string; readonly ms: number }[],
): string {
  const slowest = durations.toSorted((a, b) => b.ms - a.ms).slice(0, SLOWEST);
  const lines = slowest.map(({ name, file, ms }) => `${(ms / 1000).toFixed(1).padStart(8)} s  ${name} (${file})\n`);
  return `\nslowest:\n${lines.join("")}`;
}
