import { realClock, sleep } from "@konverge/core";

const clock = realClock();
/** Milliseconds between two questions. */
const INTERVAL = 200;

export const now = () => clock.now();

/** How long something takes, in seconds with one decimal. */
export async function timed(work: () => Promise<unknown>): Promise<string> {
  const begun = clock.monotonic();
  await work();
  return ((clock.monotonic() - begun) / 1000).toFixed(1);
}

/** Asks until there is an answer other than undefined; an error counts as none, and is named if the time runs out. */
export async function until<T>(what: string, seconds: number, ask: () => Promise<T | undefined>): Promise<T> {
  const deadline = clock.monotonic() + seconds * 1000;
  for (let last: unknown; ; ) {
    try {
      const answer = await ask();
      if (answer !== undefined) return answer;
      last = undefined;
    } catch (error) {
      last = error;
    }
    if (clock.monotonic() >= deadline) throw new Error(`${what}: not after ${seconds} s`, { cause: last });
    await sleep(clock, INTERVAL);
  }
}
