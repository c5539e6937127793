/** Strings whose format makes them something else: times, durations, bytes. */
import { quoted } from "@konverge/core";
import { parseDate, parseGoDuration, parseTimestamp } from "../values/time.ts";
import { CelError, Duration, Timestamp, type Value } from "../values/values.ts";

/** How a string of a format becomes a value. */
export function readString(format: string | undefined): (text: string) => Value {
  switch (format) {
    case "duration":
      return readDuration;
    case "date":
      return (text) =>
        parseDate(text) ?? new CelError(`Invalid date formatted string ${text}: ${dateProblem(text, DATE)}`);
    case "date-time":
      return readDateTime;
    case "byte":
      return readBytes;
    default:
      return (text) => text;
  }
}

function readDuration(text: string): Value {
  return (
    parseGoDuration(text) ??
    parseWordyDuration(text) ??
    new CelError(`Invalid duration ${text}: unable to parse ${text} as duration`)
  );
}

const UNITS: [names: string[], nanos: bigint][] = [
  [["ns", "nano"], 1n],
  [["us", "µs", "micro"], 1_000n],
  [["ms", "milli"], 1_000_000n],
  [["s", "sec"], 1_000_000_000n],
  [["m", "min"], 60_000_000_000n],
  [["h", "hr", "hour"], 3_600_000_000_000n],
  [["d", "day"], 86_400_000_000_000n],
  [["w", "wk", "week"], 604_800_000_000_000n],
];

/** `3 days 2 hours`: whole numbers, each with the name of a unit or the beginning of a longer name. */
function parseWordyDuration(text: string): Duration | undefined {
  let nanos: bigint | undefined;
  for (const [, count, word] of text.matchAll(/(?<![0-9])([0-9]+)(?:[\t\n\f\r ]*([A-Za-zµ]+))?/g)) {
    if (word === undefined) continue;
    if (count!.length > 30 || BigInt(count!) >= 2n ** 63n) return undefined;
    const unit = word.toLowerCase();
    for (const [names, size] of UNITS) {
      if (names.includes(unit) || unit.startsWith(names.at(-1)!)) nanos = (nanos ?? 0n) + BigInt(count!) * size;
    }
  }
  return nanos === undefined ? undefined : new Duration(BigInt.asIntN(64, nanos));
}

const DATE = "2006-01-02";
const LOCAL_TIME = "2006-01-02T15:04:05";

function readDateTime(text: string): Value {
  if (text === "") return new Timestamp(0, 0);
  return (
    parseTimestamp(text) ??
    parseTimestamp(`${text}Z`) ??
    new CelError(`Invalid date-time formatted string ${text}: ${dateProblem(text, LOCAL_TIME)}`)
  );
}

const ELEMENTS: [element: string, pattern: RegExp, most?: number, name?: string][] = [
  ["2006", /^[0-9]{4}/],
  ["-", /^-/],
  ["01", /^[0-9]{2}/, 12, "month"],
  ["-", /^-/],
  ["02", /^[0-9]{2}/, 31, "day"],
  ["T", /^T/],
  ["15", /^[0-9]{1,2}/, 23, "hour"],
  [":", /^:/],
  ["04", /^[0-9]{2}/, 59, "minute"],
  [":", /^:/],
  ["05", /^[0-9]{2}/, 59, "second"],
];

/** Why a date or time cannot be read, in the words of Go's time package. */
function dateProblem(text: string, layout: string): string {
  let rest = text;
  for (const [element, pattern, most, name] of layout === DATE ? ELEMENTS.slice(0, 5) : ELEMENTS) {
    const part = pattern.exec(rest)?.[0];
    if (part === undefined)
      return `parsing time ${quoted(text)} as ${quoted(layout)}: cannot parse ${quoted(rest)} as ${quoted(element)}`;
    const isDatePart = name === "month" || name === "day";
    if (most !== undefined && (Number(part) > most || (isDatePart && Number(part) === 0)))
      return `parsing time ${quoted(text)}: ${name} out of range`;
    rest = rest.slice(part.length);
  }
  rest = rest.replace(/^[.,][0-9]+/, "");
  return rest === ""
    ? `parsing time ${quoted(text)}: day out of range`
    : `parsing time ${quoted(text)}: extra text: ${quoted(rest)}`;
}

/** Base64 in the alphabet for URLs, with padding. */
function readBytes(text: string): Value {
  const plain = text.replace(/[\r\n]/g, "");
  const isRight = /^(?:[A-Za-z0-9_-]{4})*(?:[A-Za-z0-9_-]{2}==|[A-Za-z0-9_-]{3}=)?$/.test(plain);
  if (isRight) return new Uint8Array(Buffer.from(plain, "base64url"));
  const wrong = /[^A-Za-z0-9_-]/.exec(text)?.index ?? text.length;
  return new CelError(`Invalid byte formatted string ${text}: illegal base64 data at input byte ${wrong}`);
}
