import assert from "node:assert/strict";
import { test } from "node:test";
import { VirtualClock } from "@konverge/core";
import { announcedProgress } from "./announced-progress.ts";

test("a long exploration prints how far it is every ten seconds, and a short one nothing", async () => {
  const [clock, lines] = [new VirtualClock(), [] as string[]];
  const report = announcedProgress((line) => void lines.push(line), clock);
  for (let done = 1; done <= 25; done++) {
    await clock.advance(1000);
    report({ done, total: 99, findings: 0, tried: `fault ${done}` });
  }
  assert.deepEqual(lines, [
    "exploring: 10/99 runs, 0 findings: fault 10",
    "exploring: 20/99 runs, 0 findings: fault 20",
  ]);
});
