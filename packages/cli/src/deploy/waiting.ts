import { type Clock, sleep } from "@konverge/core";

/** Asks again and again until there is an answer other than undefined, or the time is up: then undefined. */
export async function untilDefined<T>(
  clock: Clock,
  timeout: number,
  ask: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const deadline = clock.monotonic() + timeout;
  for (let wait = 20; ; wait = Math.min(wait * 1.5, 500)) {
    const answer = await ask();
    if (answer !== undefined || clock.monotonic() >= deadline) return answer;
    await sleep(clock, wait);
  }
}
