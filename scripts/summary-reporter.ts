// Prints what failed or is still to do, and one closing line: N passed, N failed, N skipped. Where a second try is to follow
// (FAILED_FILES names a file), the files with failures are written there, and counted by it.
import { writeFileSync } from "node:fs";
import type { TestEvent } from "node:test/reporters";

export default async function* summary(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const skips = new Map<string, number>();
  const failedFiles = new Set<string>();
  for await (const event of events) {
    // Of a suite that is skipped, no test is declared: it counts as one.
    if (event.type === "test:pass" && (event.data.details.type !== "suite" || event.data.skip !== undefined)) {
      if (event.data.skip !== undefined) {
        counts.skipped++;
        skips.set(String(event.data.skip), (skips.get(String(event.data.skip)) ?? 0) + 1);
      } else counts.passed++;
    }
    // A failed test names the file that declares it, which may be shared by many: the summary names the one that was run.
    if (event.type === "test:summary" && event.data.file && !event.data.success) failedFiles.add(event.data.file);
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
  const { passed, failed, skipped } = counts;
  const list = process.env.FAILED_FILES;
  if (list && failedFiles.size > 0) {
    writeFileSync(list, JSON.stringify([...failedFiles]));
    yield `\n${passed} passed, 0 failed, ${skipped} skipped, ${failed} to be tried again\n`;
  } else yield `\n${passed} passed, ${failed} failed, ${skipped} skipped\n`;
}
