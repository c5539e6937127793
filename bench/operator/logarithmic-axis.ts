/** Values that a tick can have: 1, 2 and 5 in each decade. */
const STEPS = [-3, -2, -1, 0, 1, 2, 3, 4, 5, 6].flatMap((decade) =>
  [1, 2, 5].map((digit) => Number(`${digit}e${decade}`)),
);

/** Where values are on a logarithmic axis. */
export interface Axis {
  readonly ticks: readonly number[];
  position(value: number): number;
}

/** A logarithmic axis has no place for zero or infinity. */
export function fitsAxis(value: number | undefined): value is number {
  return value !== undefined && value >= STEPS[0]! && value <= STEPS.at(-1)!;
}

/** An axis from one coordinate to another that begins and ends at a tick and covers all values. */
export function logarithmicAxis(values: readonly number[], start: number, end: number): Axis {
  const smallest = values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const largest = values.reduce((a, b) => Math.max(a, b), 0);
  const from = STEPS.findLast((step) => step <= smallest) ?? STEPS[0]!;
  const to = STEPS.find((step) => step >= largest && step > from) ?? STEPS.at(-1)!;
  return {
    ticks: STEPS.filter((step) => step >= from && step <= to),
    position: (value) => {
      const share = Math.log10(value / from) / Math.log10(to / from);
      return Math.round((start + share * (end - start)) * 10) / 10;
    },
  };
}
