import { parseDuration } from "@konverge/core";

/** Units by all their names; the last of each may be continued (`minutes`). */
const UNITS = [
  ["ns", "nano"],
  ["us", "µs", "micro"],
  ["ms", "milli"],
  ["s", "sec"],
  ["m", "min"],
  ["h", "hr", "hour"],
  ["d", "day"],
  ["w", "wk", "week"],
];

const MAX_INT64 = 2n ** 63n - 1n;

/** A Go duration (`1h30m`), or text in which at least one number is followed by a unit of time (`about 3 days`). */
export function isDuration(text: string): boolean {
  if (isGoDuration(text)) return true;
  let isFound = false;
  for (const [, digits, word] of text.matchAll(/(?<![0-9])([0-9]+)(?:[\t\n\f\r ]*([A-Za-zµ]+))?/g)) {
    if (word === undefined) continue;
    if (digits!.length > 30 || BigInt(digits!) > MAX_INT64) return false;
    const unit = word.toLowerCase();
    if (UNITS.some((names) => names.includes(unit) || unit.startsWith(names.at(-1)!))) isFound = true;
  }
  return isFound;
}

function isGoDuration(text: string): boolean {
  try {
    parseDuration(text);
    return true;
  } catch {
    return false;
  }
}
