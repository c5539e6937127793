/** Ranges of sizes and costs: the least and the most that can be. They stop at 2^64 - 1, which also means "unknown". */
export interface Range {
  readonly min: bigint;
  readonly max: bigint;
}

/** As much as 64 bits hold: costs stay there. */
export const MOST = 2n ** 64n - 1n;
/** What costs or sizes can be when nothing is known, or nothing, or one. */
export const UNKNOWN: Range = { min: 0n, max: MOST };
export const ZERO: Range = { min: 0n, max: 0n };
export const ONE: Range = { min: 1n, max: 1n };

/** A range of one number. */
export const exactly = (n: bigint | number): Range => ({ min: BigInt(n), max: BigInt(n) });

const capped = (n: bigint) => (n > MOST ? MOST : n);

/** The sum of ranges. */
export function plus(...ranges: readonly Range[]): Range {
  return ranges.reduce((a, b) => ({ min: capped(a.min + b.min), max: capped(a.max + b.max) }), ZERO);
}

/** The product of ranges. */
export function times(a: Range, b: Range): Range {
  return { min: capped(a.min * b.min), max: capped(a.max * b.max) };
}

/** Multiplied by a fraction and rounded up. */
export function scaled(range: Range, factor: number): Range {
  return { min: scale(range.min, factor), max: scale(range.max, factor) };
}

function scale(n: bigint, factor: number): bigint {
  const value = Number(n);
  if (value > 0 && factor > 0 && value > 2 ** 64 / factor) return MOST;
  const rounded = Math.ceil(value * factor);
  return rounded >= 2 ** 64 ? MOST : BigInt(rounded);
}

/** The range that covers both. */
export function cover(a: Range, b: Range): Range {
  return { min: a.min < b.min ? a.min : b.min, max: a.max > b.max ? a.max : b.max };
}
