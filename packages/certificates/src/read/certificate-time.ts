import { CertificateError } from "../certificate-error.ts";
import { type DerReader, TAGS } from "../der/read.ts";

/** A moment in a certificate. */
export interface CertificateTime {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** As messages have it (RFC 3339), in the time zone that it is written in. */
  readonly text: string;
}

const UTC_TIME = /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)?(Z|[+-]\d{4})$/;
const GENERALIZED_TIME = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(Z|[+-]\d{4})$/;

/** Reads a time in either form. Go takes offsets from UTC, and UTC times without seconds, which the standard forbids. */
export function readTime(der: DerReader): CertificateTime {
  if (der.isNext(TAGS.utcTime)) {
    const problem = "x509: malformed UTCTime";
    return timeIn(UTC_TIME, der.content(TAGS.utcTime, problem), problem);
  }
  if (der.isNext(TAGS.generalizedTime)) {
    const problem = "x509: malformed GeneralizedTime";
    return timeIn(GENERALIZED_TIME, der.content(TAGS.generalizedTime, problem), problem);
  }
  throw new CertificateError("x509: unsupported time format");
}

function timeIn(pattern: RegExp, content: Buffer, problem: string): CertificateTime {
  const [, yearText = "", month = "", day = "", hour = "", minute = "", second = "00", zone = "Z"] =
    pattern.exec(content.toString("latin1")) ?? [];
  const year = yearText.length === 2 ? fullYear(Number(yearText)) : Number(yearText);
  const date = new Date(0);
  date.setUTCFullYear(year, Number(month) - 1, Number(day));
  date.setUTCHours(Number(hour), Number(minute), Number(second));
  const offset = offsetOf(zone);
  const local = `${String(year).padStart(4, "0")}-${month}-${day}T${hour}:${minute}:${second}`;
  // A day or an hour that does not exist would have moved to another.
  if (month === "" || offset === undefined || date.toISOString().slice(0, 19) !== local) {
    throw new CertificateError(problem);
  }
  const shown = zone === "Z" ? "Z" : `${zone.slice(0, 3)}:${zone.slice(3)}`;
  return { at: date.getTime() - offset * 60_000, text: local + shown };
}

/** Two digits stand for 1950 to 2049. */
const fullYear = (year: number) => (year < 50 ? 2000 + year : 1900 + year);

/** Minutes east of UTC. An offset of none has to be written as `Z`. */
function offsetOf(zone: string): number | undefined {
  if (zone === "Z") return 0;
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(3))];
  const offset = hours * 60 + minutes;
  if (offset === 0 || hours > 24 || minutes > 59) return undefined;
  return zone.startsWith("-") ? -offset : offset;
}

/** The present as messages about certificates have it. */
export function timeText(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d{3}Z$/, "Z");
}
