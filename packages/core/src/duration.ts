import { exceeds64Bits } from "./long-integer.ts";
import { own } from "./own.ts";

const UNITS: Record<string, bigint> = {
  ns: 1n,
  us: 1_000n,
  "\u00b5s": 1_000n, // micro sign
  "\u03bcs": 1_000n, // Greek mu
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const SECOND = 1_000_000_000n;
/** Go's durations are 64-bit: about 292 years either way. */
const LONGEST = 2n ** 63n;

/** Text that is not a duration. The message is Go's. */
export class DurationError extends Error {
  override readonly name = "DurationError";
}

/** Parses a Go duration ("1h30m", "100ms", "-1.5s") to nanoseconds; throws a {@link DurationError}. */
export function parseDuration(text: string): bigint {
  const invalid = () => new DurationError(`time: invalid duration ${quote(text)}`);
  const isNegative = text.startsWith("-");
  let rest = isNegative || text.startsWith("+") ? text.slice(1) : text;
  if (rest === "0") return 0n;
  if (rest === "") throw invalid();
  let total = 0n;
  while (rest !== "") {
    const [term, whole, , fraction = ""] = /^([0-9]*)(\.([0-9]*))?/.exec(rest) as unknown as string[];
    if (`${whole}${fraction}` === "" || exceeds64Bits(whole!) || BigInt(whole || "0") > LONGEST) throw invalid();
    rest = rest.slice(term!.length);
    const unit = /^[^.0-9]*/.exec(rest)![0];
    if (unit === "") throw new DurationError(`time: missing unit in duration ${quote(text)}`);
    const size = own(UNITS, unit);
    if (size === undefined) throw new DurationError(`time: unknown unit ${quote(unit)} in duration ${quote(text)}`);
    rest = rest.slice(unit.length);
    total += BigInt(whole || "0") * size + fractionOf(size, fraction);
    if (total > LONGEST) throw invalid();
  }
  if (isNegative) return -total;
  if (total === LONGEST) throw invalid();
  return total;
}

/** Go computes fractions of a unit in floating point: so do we, to the same nanosecond. */
function fractionOf(unit: bigint, digits: string): bigint {
  let numerator = 0n;
  let scale = 1;
  for (const digit of digits) {
    const next = numerator * 10n + BigInt(digit);
    if (numerator > LONGEST / 10n || next > LONGEST) break;
    numerator = next;
    scale *= 10;
  }
  return BigInt(Math.trunc(Number(numerator) * (Number(unit) / scale)));
}

/** A Go duration in milliseconds, the unit of {@link Clock}. */
export function durationMs(text: string): number {
  return Number(parseDuration(text)) / 1e6;
}

/** Nanoseconds as Go writes them: "1h30m0s", "1.5s", "100ms", "0s". */
export function formatDuration(nanoseconds: bigint): string {
  if (nanoseconds === 0n) return "0s";
  if (nanoseconds < 0n) return `-${formatDuration(-nanoseconds)}`;
  if (nanoseconds < SECOND) {
    const [unit, size] =
      nanoseconds < 1_000n ? ["ns", 1n] : nanoseconds < 1_000_000n ? ["µs", 1_000n] : ["ms", 1_000_000n];
    return `${decimal(nanoseconds, size as bigint)}${unit}`;
  }
  const minutes = nanoseconds / (60n * SECOND);
  const seconds = `${decimal(nanoseconds % (60n * SECOND), SECOND)}s`;
  if (minutes === 0n) return seconds;
  return minutes < 60n ? `${minutes}m${seconds}` : `${minutes / 60n}h${minutes % 60n}m${seconds}`;
}

/** Milliseconds as Go writes a duration. */
export function formatDurationMs(ms: number): string {
  return formatDuration(BigInt(Math.round(ms * 1e6)));
}

function decimal(value: bigint, unit: bigint): string {
  const fraction = String(value % unit)
    .padStart(String(unit).length - 1, "0")
    .replace(/0+$/, "");
  return unit === 1n || fraction === "" ? `${value / unit}` : `${value / unit}.${fraction}`;
}

/** As Go's time package quotes what it could not read: bytes outside printable ASCII in hexadecimal. */
function quote(text: string): string {
  let quoted = "";
  for (const byte of new TextEncoder().encode(text)) {
    if (byte < 0x20 || byte >= 0x80) quoted += `\\x${byte.toString(16).padStart(2, "0")}`;
    else quoted += byte === 0x22 || byte === 0x5c ? `\\${String.fromCharCode(byte)}` : String.fromCharCode(byte);
  }
  return `"${quoted}"`;
}

/** A duration as the AGE columns of kubectl show it: "45s", "5m10s", "3h20m", "5d3h", "2y45d". */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1000);
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.trunc(seconds / 60);
  if (minutes < 10) return pair(minutes, "m", seconds % 60, "s");
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.trunc(minutes / 60);
  if (hours < 8) return pair(hours, "h", minutes % 60, "m");
  if (hours < 48) return `${hours}h`;
  const days = Math.trunc(hours / 24);
  if (days < 8) return pair(days, "d", hours % 24, "h");
  if (days < 365 * 2) return `${days}d`;
  const years = Math.trunc(days / 365);
  return years < 8 ? pair(years, "y", days % 365, "d") : `${years}y`;
}

function pair(major: number, majorUnit: string, minor: number, minorUnit: string): string {
  return minor === 0 ? `${major}${majorUnit}` : `${major}${majorUnit}${minor}${minorUnit}`;
}

/** The AGE of an object: time since an RFC 3339 timestamp, or `<unknown>` without one. */
export function ageSince(timestamp: string | undefined, now: number): string {
  return timestamp ? humanDuration(now - Date.parse(timestamp)) : "<unknown>";
}
