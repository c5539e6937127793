import { quoted } from "@konverge/core";
import { DecodeError } from "./decode-error.ts";

/** The parts of the two layouts that objects have times in, and what each may look like. */
const PARTS: Record<string, RegExp> = {
  "2006": /^\d{4}/,
  "01": /^\d\d/,
  "02": /^\d\d/,
  "15": /^\d\d/,
  "04": /^\d\d/,
  "05": /^\d\d/,
  ".000000": /^\.\d{6}/,
  "Z07:00": /^(?:Z|[+-]\d\d:\d\d)/,
};
const LAYOUT = /2006|01|02|15|04|05|\.000000|Z07:00|[-T:]/g;
const RANGES: Record<string, [name: string, least: number, most: number]> = {
  "01": ["month", 1, 12],
  "02": ["day", 1, 31],
  "15": ["hour", 0, 23],
  "04": ["minute", 0, 59],
  "05": ["second", 0, 59],
};

/** How nearly all times are written: in UTC and without a fraction, or with one of six digits. */
const USUAL = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{6})?Z$/;

/**
 * Whether a time is written as Kubernetes writes times, to the second or (`micro`) to the microsecond, so that reading
 * and writing it gives the same text. False does not say that it is wrong.
 */
export function isUsualTime(text: string, micro: boolean): boolean {
  const length = micro ? 27 : 20;
  if (text.length !== length || !USUAL.test(text)) return false;
  const part = (at: number) => (text.charCodeAt(at) - 48) * 10 + text.charCodeAt(at + 1) - 48;
  const [month, day] = [part(5), part(8)];
  return month >= 1 && month <= 12 && day >= 1 && day <= 28 && part(11) < 24 && part(14) < 60 && part(17) < 60;
}

/** Reads a time as Go's time.Parse does, with its messages. The fraction comes with its point. */
export function parseGoTime(layout: string, text: string): { ms: number; fraction: string } {
  const fail = (why: string) => new DecodeError(`parsing time ${quoted(text)}${why}`);
  let rest = text;
  let fraction = "";
  let plain = "";
  const parts = layout.match(LAYOUT)!;
  for (const [index, part] of parts.entries()) {
    const found = PARTS[part] ? PARTS[part].exec(rest)?.[0] : rest.startsWith(part) ? part : undefined;
    if (found === undefined) throw fail(` as ${quoted(layout)}: cannot parse ${quoted(rest)} as ${quoted(part)}`);
    const range = RANGES[part];
    if (range && (Number(found) < range[1] || Number(found) > range[2])) throw fail(`: ${range[0]} out of range`);
    rest = rest.slice(found.length);
    if (part === ".000000") fraction = found;
    else plain += found;
    // A fraction may follow the seconds even where the layout has none.
    if (part === "05" && parts[index + 1] !== ".000000") rest = rest.replace(/^[.,]\d+/, "");
  }
  if (rest !== "") throw fail(`: extra text: ${quoted(rest)}`);
  // JavaScript takes the 30th of February for the 2nd of March.
  const lastDay = new Date(Date.UTC(Number(plain.slice(0, 4)), Number(plain.slice(5, 7)), 0)).getUTCDate();
  if (Number(plain.slice(8, 10)) > lastDay) throw fail(": day out of range");
  const ms = Date.parse(plain);
  return { ms, fraction };
}
