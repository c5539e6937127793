import { isDuration } from "./format-duration.ts";
import { isEmail } from "./format-email.ts";
import { isCidr, isIpv4, isIpv6, isMac } from "./format-network.ts";
import { isUri } from "./format-uri.ts";
import { lazyPattern } from "./lazy-pattern.ts";

/**
 * The formats of strings that API servers enforce, by name without dashes. A format that is not here is ignored, as
 * servers ignore it.
 */
const FORMATS: Record<string, (text: string) => boolean> = {
  bsonobjectid: (text) => /^[0-9a-fA-F]{24}$/.test(text),
  byte: (text) => /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/.test(text),
  cidr: isCidr,
  creditcard: isCreditCard,
  date: isDate,
  datetime: isDateTime,
  duration: isDuration,
  email: isEmail,
  hexcolor: (text) => /^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/.test(text),
  hostname: isHostname,
  ipv4: isIpv4,
  ipv6: isIpv6,
  isbn: (text) => isIsbn10(text) || isIsbn13(text),
  isbn10: isIsbn10,
  isbn13: isIsbn13,
  k8slongname: (text) =>
    text.length <= 253 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(text),
  k8sshortname: (text) => text.length <= 63 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(text),
  mac: isMac,
  password: () => true,
  rgbcolor: isRgbColor,
  ssn: (text) => /^[0-9]{3}[- ][0-9]{2}[- ][0-9]{4}$/.test(text),
  uri: isUri,
  uuid: (text) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(text),
  uuid3: (text) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(text),
  uuid4: (text) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i.test(text),
  uuid5: (text) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i.test(text),
};

/** The check of a string format, or undefined where servers have none of that name. */
export function stringFormat(name: string): ((text: string) => boolean) | undefined {
  const plain = name.replaceAll("-", "");
  return Object.hasOwn(FORMATS, plain) ? FORMATS[plain] : undefined;
}

function isDate(text: string): boolean {
  const match = /^([0-9]{4})-([0-9]{2})-([0-9]{2})$/.exec(text);
  if (!match) return false;
  const [year, month, day] = match.slice(1).map(Number) as [number, number, number];
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
  return day >= 1 && day <= (lengths[month - 1] ?? 0);
}

/** RFC 3339, loosely: any character may stand before the fraction, and the offset may be anything. */
function isDateTime(text: string): boolean {
  const [date, time] = text.toLowerCase().split("t");
  if (time === undefined || !isDate(date!)) return false;
  const match = /^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$/u.exec(time);
  return match !== null && match[1]! <= "23" && match[2]! <= "59" && match[3]! <= "59";
}

const LABEL = "[a-zA-Z0-9\\p{S}\\p{L}]";
/** RE2 rather than a RegExp: users choose the text, and this pattern can make a backtracking engine go on for minutes. */
const hostname = lazyPattern(
  `^(${LABEL}(-?${LABEL}{0,62})?|(${LABEL}([a-zA-Z0-9\\p{S}\\p{L}-]{0,61}${LABEL})?\\.)+[a-zA-Z\\p{L}]{2,63})$`,
);

function isHostname(text: string): boolean {
  if (text.length > 255 || !hostname(text).find()) return false;
  const bytes = (part: string) => new TextEncoder().encode(part).length;
  return bytes(text) <= 255 && text.split(".").every((part) => bytes(part) <= 63);
}

function isRgbColor(text: string): boolean {
  const part = "(0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5])";
  return new RegExp(
    `^rgb\\([\\t\\n\\f\\r ]*${part}[\\t\\n\\f\\r ]*,[\\t\\n\\f\\r ]*${part}[\\t\\n\\f\\r ]*,[\\t\\n\\f\\r ]*${part}[\\t\\n\\f\\r ]*\\)$`,
  ).test(text);
}

function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]+/g, "");
  const issuers =
    /^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35[0-9]{3})[0-9]{11})$/;
  if (!issuers.test(digits)) return false;
  const sum = [...digits].reverse().reduce((total, character, index) => {
    const digit = Number(character) * (index % 2 === 0 ? 1 : 2);
    return total + (digit >= 10 ? digit - 9 : digit);
  }, 0);
  return sum % 10 === 0;
}

function isIsbn10(text: string): boolean {
  const digits = text.replace(/[\t\n\f\r -]+/g, "");
  if (!/^(?:[0-9]{9}X|[0-9]{10})$/.test(digits)) return false;
  const sum = [...digits].reduce(
    (total, digit, index) => total + (index + 1) * (digit === "X" ? 10 : Number(digit)),
    0,
  );
  return sum % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = text.replace(/[\t\n\f\r -]+/g, "");
  if (!/^[0-9]{13}$/.test(digits)) return false;
  const sum = [...digits]
    .slice(0, 12)
    .reduce((total, digit, index) => total + (index % 2 === 0 ? 1 : 3) * Number(digit), 0);
  return Number(digits[12]) === (10 - (sum % 10)) % 10;
}
