/** A moment as the clocks of a place show it. Months from 1, Sunday is 0. */
export interface LocalTime {
  year: number;
  month: number;
  day: number;
  hour: number;
  minute: number;
  weekday: number;
}

/** The rules of a place by which its clocks are set. */
export interface TimeZone {
  /** What the clocks show at a moment (milliseconds since 1970). */
  at(ms: number): LocalTime;
  /** Minutes by which they are ahead of UTC. */
  offset(ms: number): number;
}

function inUtc(ms: number): LocalTime {
  const date = new Date(ms);
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    weekday: date.getUTCDay(),
  };
}

const UTC: TimeZone = { at: inUtc, offset: () => 0 };

const zones = new Map<string, TimeZone>([
  ["", UTC],
  ["UTC", UTC],
  ["Etc/UTC", UTC],
]);

/** The time zone of a name such as `Europe/Berlin`; throws if there is none. */
export function timeZone(name: string): TimeZone {
  const known = zones.get(name);
  if (known) return known;
  if (name.toLowerCase() === "local") throw new RangeError(`unknown time zone ${name}`);
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone: name,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
  } catch (cause) {
    throw new RangeError(`unknown time zone ${name}`, { cause });
  }
  // Clocks are not set more often than every quarter of an hour: within one, the difference from UTC stays.
  const QUARTER = 900_000;
  let last = { quarter: Number.NaN, offset: 0 };
  const offset = (ms: number): number => {
    const quarter = Math.floor(ms / QUARTER);
    if (quarter === last.quarter) return last.offset;
    const parts = Object.fromEntries(
      format.formatToParts(quarter * QUARTER).map(({ type, value }) => [type, Number(value)]),
    );
    const { year, month, day, hour, minute, second } = parts as Record<string, number>;
    const shown = Date.UTC(year!, month! - 1, day!, hour!, minute!, second!);
    last = { quarter, offset: (shown - quarter * QUARTER) / 60_000 };
    return last.offset;
  };
  const zone: TimeZone = { offset, at: (ms) => inUtc(ms + offset(ms) * 60_000) };
  zones.set(name, zone);
  return zone;
}

/** The moment at which the clocks of a place show the beginning of a day. */
export function startOfDay(zone: TimeZone, year: number, month: number, day: number): number {
  const shown = Date.UTC(year, month - 1, day);
  const guess = shown - zone.offset(shown) * 60_000;
  return shown - zone.offset(guess) * 60_000;
}
