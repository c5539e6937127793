/** Timestamps and durations as text, and the calendar. */
import { parseDuration } from "@konverge/core";
import { formatPlain } from "./number-text.ts";
import { CelError, Duration, Timestamp, type Value } from "./values.ts";

const RFC3339 =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{1,2}):([0-9]{2}):([0-9]{2})(?:[.,]([0-9]+))?(?:Z|([+-])([0-9]{2}):([0-9]{2}))$/;

/** Reads an RFC 3339 timestamp as Go does; undefined for text that is none. */
export function parseTimestamp(text: string): Timestamp | undefined {
  const match = RFC3339.exec(text);
  if (!match) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as number[];
  const [fraction, sign, zoneHours, zoneMinutes] = match.slice(7) as (string | undefined)[];
  if (!isDate(year!, month!, day!) || hour! > 23 || minute! > 59 || second! > 59) return undefined;
  const zone = Number(zoneHours ?? 0) * 3600 + Number(zoneMinutes ?? 0) * 60;
  if (Number(zoneHours ?? 0) > 24 || Number(zoneMinutes ?? 0) > 60) return undefined;
  const offset = sign === "-" ? -zone : zone;
  const local = daysFromCivil(year!, month!, day!) * 86400 + hour! * 3600 + minute! * 60 + second!;
  const nanos = Number((fraction ?? "").slice(0, 9).padEnd(9, "0"));
  return new Timestamp(local - offset, nanos, offset);
}

const FULL_DATE = /^([0-9]{4})-([0-9]{2})-([0-9]{2})$/;

/** Reads a date such as `2026-01-31`, the first moment of it in UTC. */
export function parseDate(text: string): Timestamp | undefined {
  const match = FULL_DATE.exec(text);
  if (!match) return undefined;
  const [year, month, day] = match.slice(1).map(Number) as [number, number, number];
  return isDate(year, month, day) ? new Timestamp(daysFromCivil(year, month, day) * 86400, 0) : undefined;
}

function isDate(year: number, month: number, day: number): boolean {
  if (month < 1 || month > 12 || day < 1) return false;
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return day <= [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]!;
}

function daysFromCivil(year: number, month: number, day: number): number {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getTime() / 86_400_000;
}

/** As `string(t)` writes it: in the offset it was written in, with as much of the second as there is. */
export function formatTimestamp(time: Timestamp): string {
  const local = new Date((time.seconds + time.offset) * 1000);
  const year = local.getUTCFullYear();
  const date = `${year < 0 ? "-" : ""}${String(Math.abs(year)).padStart(4, "0")}${local.toISOString().slice(-20, -5)}`;
  const fraction = time.nanos === 0 ? "" : `.${String(time.nanos).padStart(9, "0").replace(/0+$/, "")}`;
  if (time.offset === 0) return `${date}${fraction}Z`;
  const minutes = Math.trunc(Math.abs(time.offset) / 60);
  const pad = (n: number) => String(n).padStart(2, "0");
  const zone = `${time.offset < 0 ? "-" : "+"}${pad(Math.trunc(minutes / 60))}:${pad(minutes % 60)}`;
  return `${date}${fraction}${zone}`;
}

/** As `string(d)` writes it: seconds, "1.5s". */
export function formatSeconds(duration: Duration): string {
  return `${formatPlain(secondsOf(duration))}s`;
}

/** Reads a Go duration; undefined for text that is none. */
export function parseGoDuration(text: string): Duration | undefined {
  try {
    return new Duration(parseDuration(text));
  } catch {
    return undefined;
  }
}

function secondsOf({ nanos }: Duration): number {
  return Number(nanos / 1_000_000_000n) + Number(nanos % 1_000_000_000n) / 1e9;
}

/** What a moment is called on the calendar and clock of a place. All counted as CEL counts: months and days from 0. */
const TIMESTAMP_PARTS: Record<string, (local: Date, time: Timestamp) => number> = {
  getFullYear: (d) => d.getUTCFullYear(),
  getMonth: (d) => d.getUTCMonth(),
  getDayOfYear: (d) => Math.floor(d.getTime() / 86_400_000) - daysFromCivil(d.getUTCFullYear(), 1, 1),
  getDayOfMonth: (d) => d.getUTCDate() - 1,
  getDate: (d) => d.getUTCDate(),
  getDayOfWeek: (d) => d.getUTCDay(),
  getHours: (d) => d.getUTCHours(),
  getMinutes: (d) => d.getUTCMinutes(),
  getSeconds: (d) => d.getUTCSeconds(),
  getMilliseconds: (_, t) => Math.trunc(t.nanos / 1e6),
};

/** One part of a timestamp, by the name of the CEL function, in UTC or in a time zone. */
export function timestampPart(part: string, time: Timestamp, zone = "UTC"): Value {
  const offset = zoneOffset(zone, time);
  if (offset instanceof CelError) return offset;
  return BigInt(TIMESTAMP_PARTS[part]!(new Date((time.seconds + offset) * 1000), time));
}

const UNITS: Record<string, bigint> = {
  getHours: 3_600_000_000_000n,
  getMinutes: 60_000_000_000n,
  getSeconds: 1_000_000_000n,
  getMilliseconds: 1_000_000n,
};

/** A whole duration in one unit, by the name of the CEL function. */
export function durationPart(part: string, duration: Duration): Value {
  return duration.nanos / UNITS[part]!;
}

/** Seconds east of Greenwich: of a named zone at that moment, or of an offset such as `-07:00`. */
function zoneOffset(zone: string, time: Timestamp): number | CelError {
  if (zone === "" || zone === "UTC") return 0;
  const colon = zone.indexOf(":");
  if (colon < 0) return namedZoneOffset(zone, time);
  const hours = atoi(zone.slice(0, colon));
  if (hours instanceof CelError) return hours;
  const minutes = atoi(zone.slice(colon + 1));
  if (minutes instanceof CelError) return minutes;
  return 60 * (zone.startsWith("-") ? hours * 60 - minutes : hours * 60 + minutes);
}

function atoi(text: string): number | CelError {
  if (/^[+-]?[0-9]+$/.test(text)) return Number(text);
  return new CelError(`strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`);
}

const zones = new Map<string, Intl.DateTimeFormat | undefined>();

function namedZoneOffset(zone: string, time: Timestamp): number | CelError {
  if (!zones.has(zone)) zones.set(zone, zoneFormat(zone));
  const format = zones.get(zone);
  if (!format) return new CelError(`unknown time zone ${zone}`);
  const parts = Object.fromEntries(format.formatToParts(time.seconds * 1000).map(({ type, value }) => [type, value]));
  const year = Number(parts["year"]) * (parts["era"]?.startsWith("B") ? -1 : 1);
  const local =
    daysFromCivil(year, Number(parts["month"]), Number(parts["day"])) * 86400 +
    Number(parts["hour"]) * 3600 +
    Number(parts["minute"]) * 60 +
    Number(parts["second"]);
  return local - time.seconds;
}

function zoneFormat(timeZone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat("en-US", {
      timeZone,
      hourCycle: "h23",
      era: "short",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
  } catch {
    return undefined;
  }
}
