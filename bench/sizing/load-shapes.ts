import { seededRandom } from "@konverge/core";

/** A load over time. */
export interface LoadShape {
  readonly name: string;
  readonly minutes: number;
  /** Requests per second in each minute. */
  readonly rates: readonly number[];
}

/** Rates per minute, each off by up to a tenth. */
function noisy(minutes: number, rate: (minute: number) => number): number[] {
  const random = seededRandom(5);
  return Array.from({ length: minutes }, (_, minute) => rate(minute) * (0.9 + 0.2 * random.next()));
}

const shape = (name: string, minutes: number, rate: (minute: number) => number): LoadShape => ({
  name,
  minutes,
  rates: noisy(minutes, rate),
});

/** A steady load, one with a daily wave, and one with a sudden peak. */
export const loadShapes: readonly LoadShape[] = [
  shape("steady: 80 requests/s, each minute off by up to a tenth", 120, () => 80),
  shape(
    "daily wave: between 15 and 165 requests/s, a day in four hours",
    240,
    (minute) => 90 - 75 * Math.cos((2 * Math.PI * minute) / 240),
  ),
  shape("burst: 25 requests/s, and 150 for ten minutes of each forty", 120, (minute) =>
    minute % 40 >= 20 && minute % 40 < 30 ? 150 : 25,
  ),
];
