import { RE2JS } from "re2js";
import { isIp } from "./format-network.ts";

// RE2 rather than RegExps: users choose the text, and nested repetitions can make a backtracking engine go on for ever.

/** Characters of an atom: printable, and none of the specials of RFC 5322. */
const ATOM = "[!#$%&'*+\\-/0-9=?A-Z^_`a-z{|}~\\x{80}-\\x{10ffff}]+";
const DOT_ATOM = `${ATOM}(?:\\.${ATOM})*`;
const QUOTED = '"(?:[ \\t!#-\\[\\]-~\\x{80}-\\x{10ffff}]|\\\\[ \\t!-~\\x{80}-\\x{10ffff}])+"';
const ADDRESS = `[ \\t]*(?:${DOT_ATOM}|${QUOTED})@[ \\t]*(?:${DOT_ATOM}|\\[([!-Z^-~\\x{80}-\\x{10ffff}]*)\\])`;
const COMMENT = "\\((?:[^()\\\\]|\\\\.)*\\)";
const WORD = `(?:${QUOTED}|(?:${ATOM}|\\.)+)`;
const PHRASE = `[ \\t]*(?:${WORD}(?:[ \\t]|${COMMENT})*)`;
const REST = `[ \\t]*(?:${COMMENT}[ \\t]*)*`;

const PLAIN = RE2JS.compile(`^${ADDRESS}${REST}$`);
const NAMED = RE2JS.compile(`^${PHRASE}*<${ADDRESS}>${REST}$`);
const GROUP = RE2JS.compile(`^${PHRASE}+:(.*);${REST}$`);

/** One address of RFC 5322, with or without a display name, or a group of one: `jo@example.com`, `Jo <jo@example.com>`. */
export function isEmail(text: string): boolean {
  const group = GROUP.matcher(text);
  return isAddress(group.find() ? group.group(1)! : text);
}

function isAddress(text: string): boolean {
  const matcher = [PLAIN.matcher(text), NAMED.matcher(text)].find((candidate) => candidate.find());
  if (!matcher) return false;
  const literal = matcher.group(1);
  return literal === null || literal === undefined || isIp(literal);
}
