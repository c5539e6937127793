// Prints what failed or is still to do, and one closing line: N passed, N failed, N skipped.
import type { TestEvent } from "node:test/reporters";

export default async function* summary(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const skips = new Map<string, number>();
  for await (const event of events) {
    if (event.type === "test:pass" && event.data.details.type !== "suite") {
      if (event.data.skip !== undefined) {
        counts.skipped++;
        skips.set(String(event.data.skip), (skips.get(String(event.data.skip)) ?? 0) + 1);
      } else counts.passed++;
    }
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
  yield `\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`;
}
