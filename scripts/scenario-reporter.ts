// Prints each scenario when it has ended: its outcome, how long it took, and what it has measured.
import type { TestEvent } from "node:test/reporters";

export default async function* scenarios(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of events) {
    if (event.type === "test:diagnostic" && event.data.nesting > 0) yield `        ${event.data.message}\n`;
    if (event.type !== "test:pass" && event.type !== "test:fail") continue;
    const { name, nesting, details, skip } = event.data;
    const seconds = `${(details.duration_ms / 1000).toFixed(1)} s`;
    if (skip !== undefined) yield `skipped ${name}: ${skip}\n`;
    else if (details.type === "suite") yield `${name}: ${seconds} with its cluster\n`;
    else if (nesting > 0) yield `${event.type === "test:pass" ? "ok     " : "FAILED "} ${name} (${seconds})\n`;
  }
}
