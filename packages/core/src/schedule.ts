import { parseDuration } from "./duration.ts";
import { startOfDay, type TimeZone, timeZone } from "./time-zone.ts";

/** Says when it is time. */
export interface Schedule {
  /** The first moment after the given one; undefined if there is none within five years. */
  next(after: number): number | undefined;
}

/**
 * The last moment of a schedule after `since` and until `now`, and about how many there were; undefined without one. The same
 * arguments but for a later `now` give the same moment, until the next one.
 */
export function lastDue(schedule: Schedule, since: number, now: number): { time: number; count: number } | undefined {
  const first = schedule.next(since);
  if (first === undefined || first > now) return undefined;
  const second = schedule.next(first);
  if (second === undefined || second > now) return { time: first, count: 1 };
  const interval = second - first;
  const count = Math.floor((now - first) / interval) + 1;
  // Close to the end first: there may be years of minutes in between.
  let time = first;
  let next = schedule.next(Math.max(first, first + (count - 3) * interval));
  if (next !== undefined && next > now) next = second;
  for (; next !== undefined && next <= now; next = schedule.next(next)) time = next;
  return { time, count };
}

const MACROS: Record<string, string> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

interface Field {
  readonly values: ReadonlySet<number>;
  /** It says `*` or `?`: as a day, it leaves the choice to the other field for days. */
  readonly isAny: boolean;
}

/**
 * Reads a schedule as cron has it: five fields, a macro such as `@daily`, or `@every 1h30m`. `zone` is where the clock
 * hangs, unless the schedule itself says so with `TZ=` or `CRON_TZ=`.
 */
export function parseSchedule(text: string, zone = ""): Schedule {
  const [, ownZone, rest] = /^(?:CRON_)?TZ=(\S*)\s+(.*)$/.exec(text) ?? [];
  const place = timeZone(ownZone ?? zone);
  const spec = (rest ?? text).trim();
  if (spec === "") throw new SyntaxError("empty spec string");
  if (spec.startsWith("@every ")) return every(spec);
  if (spec.startsWith("@") && !MACROS[spec]) throw new SyntaxError(`unrecognized descriptor: ${spec}`);
  const fields = (MACROS[spec] ?? spec).split(/\s+/);
  if (fields.length !== 5) {
    throw new SyntaxError(`expected exactly 5 fields, found ${fields.length}: [${fields.join(" ")}]`);
  }
  const [minute, hour, day, month, weekday] = fields as [string, string, string, string, string];
  return new CronSchedule(place, {
    minute: parseField(minute, 0, 59),
    hour: parseField(hour, 0, 23),
    day: parseField(day, 1, 31),
    month: parseField(month, 1, 12, MONTHS, 1),
    weekday: parseField(weekday, 0, 6, DAYS, 0),
  });
}

function every(spec: string): Schedule {
  const nanoseconds = parseDuration(spec.slice("@every ".length));
  const ms = Math.max(1000, Math.floor(Number(nanoseconds / 1_000_000_000n)) * 1000);
  return { next: (after) => Math.floor(after / 1000) * 1000 + ms };
}

function parseField(text: string, least: number, most: number, names: readonly string[] = [], first = 0): Field {
  const values = new Set<number>();
  let isAny = false;
  const number = (word: string): number => {
    const named = names.indexOf(word.toLowerCase());
    if (named >= 0) return named + first;
    if (!/^\d+$/.test(word)) throw new SyntaxError(`failed to parse int from ${word}`);
    return Number(word);
  };
  for (const part of text.split(",").filter(Boolean)) {
    const [range, step, ...more] = part.split("/") as [string, string?];
    if (more.length > 0) throw new SyntaxError(`too many slashes: ${part}`);
    let [from, to] = [least, most];
    if (range === "*" || range === "?") isAny ||= step === undefined;
    else {
      const [low, high, ...rest] = range.split("-") as [string, string?];
      if (rest.length > 0) throw new SyntaxError(`too many hyphens: ${part}`);
      from = number(low);
      to = high === undefined ? (step === undefined ? from : most) : number(high);
    }
    const by = step === undefined ? 1 : number(step);
    if (from < least) throw new SyntaxError(`beginning of range (${from}) below minimum (${least}): ${part}`);
    if (to > most) throw new SyntaxError(`end of range (${to}) above maximum (${most}): ${part}`);
    if (from > to) throw new SyntaxError(`beginning of range (${from}) beyond end of range (${to}): ${part}`);
    if (by === 0) throw new SyntaxError(`step of range should be a positive number: ${part}`);
    for (let value = from; value <= to; value += by) values.add(value);
  }
  return { values, isAny };
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const YEARS_AHEAD = 5;

class CronSchedule implements Schedule {
  readonly #zone: TimeZone;
  readonly #fields: Record<"minute" | "hour" | "day" | "month" | "weekday", Field>;

  constructor(zone: TimeZone, fields: Record<"minute" | "hour" | "day" | "month" | "weekday", Field>) {
    this.#zone = zone;
    this.#fields = fields;
  }

  /**
   * Walks from moment to moment rather than from clock face to clock face: an hour that clocks skip is skipped, one they
   * show twice counts twice.
   */
  next(after: number): number | undefined {
    const { minute, hour, month } = this.#fields;
    let time = Math.floor(after / MINUTE) * MINUTE + MINUTE;
    const lastYear = this.#zone.at(time).year + YEARS_AHEAD;
    for (;;) {
      const local = this.#zone.at(time);
      if (local.year > lastYear) return undefined;
      if (!month.values.has(local.month)) time = this.#later(time, local.year, local.month + 1, 1);
      else if (!this.#isDay(local)) time = this.#later(time, local.year, local.month, local.day + 1);
      else if (!hour.values.has(local.hour)) time += HOUR - local.minute * MINUTE;
      else if (!minute.values.has(local.minute)) time += this.#minutesFrom(local.minute) * MINUTE;
      else return time;
    }
  }

  /** How long until a minute that fits, or the next quarter of an hour: no clock is set in between. */
  #minutesFrom(minute: number): number {
    let more = 1;
    while ((minute + more) % 15 !== 0 && !this.#fields.minute.values.has(minute + more)) more++;
    return more;
  }

  #isDay({ day: date, weekday: dayOfWeek }: { day: number; weekday: number }): boolean {
    const { day, weekday } = this.#fields;
    const [isDate, isWeekday] = [day.values.has(date), weekday.values.has(dayOfWeek)];
    // Where both say something, either will do.
    return day.isAny || weekday.isAny ? isDate && isWeekday : isDate || isWeekday;
  }

  /** The beginning of a later day, and in any case a later moment. */
  #later(time: number, year: number, month: number, day: number): number {
    const start = startOfDay(this.#zone, year, month, day);
    return start > time ? start : time + HOUR;
  }
}
