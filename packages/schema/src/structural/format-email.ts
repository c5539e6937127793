import { isIp } from "./format-network.ts";
import { lazyPattern } from "./lazy-pattern.ts";

// RE2 rather than RegExps: users choose the text, and nested repetitions can make a backtracking engine run forever.

/** Characters of an atom: printable, and none of the specials of RFC 5322. */
const ATOM = "[!#$%&'*+\\-/0-9=?A-Z^_`a-z{|}~\\x{80}-\\x{10ffff}]+";
const DOT_ATOM = `${ATOM}(?:\\.${ATOM})*`;
const QUOTED = '"(?:[ \\t!#-\\[\\]-~\\x{80}-\\x{10ffff}]|\\\\[ \\t!-~\\x{80}-\\x{10ffff}])+"';
const ADDRESS = `[ \\t]*(?:${DOT_ATOM}|${QUOTED})@[ \\t]*(?:${DOT_ATOM}|\\[([!-Z^-~\\x{80}-\\x{10ffff}]*)\\])`;
const COMMENT = "\\((?:[^()\\\\]|\\\\.)*\\)";
const WORD = `(?:${QUOTED}|(?:${ATOM}|\\.)+)`;
const PHRASE = `[ \\t]*(?:${WORD}(?:[ \\t]|${COMMENT})*)`;
const REST = `[ \\t]*(?:${COMMENT}[ \\t]*)*`;

const plain = lazyPattern(`^${ADDRESS}${REST}$`);
const named = lazyPattern(`^${PHRASE}*<${ADDRESS}>${REST}$`);
const inGroup = lazyPattern(`^${PHRASE}+:(.*);${REST}$`);

/** One address of RFC 5322, with or without a display name, or a group of one: `jo@example.com`, `Jo <jo@example.com>`. */
export function isEmail(text: string): boolean {
  const group = inGroup(text);
  return isAddress(group.find() ? group.group(1)! : text);
}

function isAddress(text: string): boolean {
  const matcher = [plain(text), named(text)].find((candidate) => candidate.find());
  if (!matcher) return false;
  const literal = matcher.group(1);
  return literal === null || literal === undefined || isIp(literal);
}
