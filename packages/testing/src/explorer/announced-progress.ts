import { type Clock, realClock } from "@konverge/core";
import type { ExploreProgress } from "./finding.ts";

/** Milliseconds without a line after which one is printed: a short exploration prints nothing. */
const PERIOD = 10_000;

/** Prints how far an exploration is, every ten seconds: what is silent for minutes looks as if it hung. */
export function announcedProgress(
  print: (line: string) => void = (line) => void process.stderr.write(`${line}\n`),
  clock: Clock = realClock(),
): (progress: ExploreProgress) => void {
  let last = clock.monotonic();
  return ({ done, total, findings, tried }) => {
    if (clock.monotonic() - last < PERIOD) return;
    last = clock.monotonic();
    print(`exploring: ${done}/${total} runs, ${findings} findings: ${tried}`);
  };
}
