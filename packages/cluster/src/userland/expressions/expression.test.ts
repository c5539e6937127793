import assert from "node:assert/strict";
import { test } from "node:test";
import { Expression, type ExpressionOptions } from "./expression.ts";
import { ExpressionError } from "./posix-syntax.ts";

const FREE = { spend: () => undefined };
const BASIC: ExpressionOptions = { extended: false };
const EXTENDED: ExpressionOptions = { extended: true };

async function firstMatch(source: string, text: string, options = EXTENDED): Promise<string | undefined> {
  const expression = await Expression.compile(source, options, FREE);
  for await (const { groups } of expression.matches(text, FREE)) return groups[0];
  return undefined;
}

/** An expression, a text, and what of it matches first. */
const BASIC_MATCHES: [source: string, text: string, found: string | undefined][] = [
  ["a.c", "xabcx", "abc"],
  ["^ab$", "ab", "ab"],
  ["a^b$c", "a^b$c", "a^b$c"],
  ["*a", "x*a", "*a"],
  ["^*a", "*a", "*a"],
  ["\\(*a\\)", "*a", "*a"],
  ["a+b?{2}(c)|d", "a+b?{2}(c)|d", "a+b?{2}(c)|d"],
  ["a\\+b", "xaab", "aab"],
  ["ab\\?c", "ac", "ac"],
  ["\\(ab\\)\\{2\\}", "ababab", "abab"],
  ["a\\{1,2\\}", "aaa", "aa"],
  ["x\\|yy", "ayy", "yy"],
  ["[[:space:]]*#", "a  #", "  #"],
  ["[[:digit:]]\\+", "ab123", "123"],
  ["[[:alnum:]_]*", "a_1-", "a_1"],
  ["[]a]*", "]a]b", "]a]"],
  ["[^]a]", "]ab", "b"],
  ["[a\\.]*", "\\.ab", "\\.a"],
  ["[a-]*", "-a-b", "-a-"],
  ["[[.a.]-c]*", "abcd", "abc"],
  ["\\.", "a.b", "."],
  ["\\bfoo\\b", "a foo b", "foo"],
  ["\\<foo\\>", "afoo foo", "foo"],
  ["\\w\\+", "--ab_1--", "ab_1"],
];

const EXTENDED_MATCHES: typeof BASIC_MATCHES = [
  ["(ab)+", "xabab", "abab"],
  ["a{2}", "aaa", "aa"],
  ["a{,2}", "aaa", "aa"],
  ["a{2,}", "aaa", "aaa"],
  ["a{x}", "a{x}", "a{x}"],
  ["+a", "+a", "+a"],
  ["a**", "aaa", "aaa"],
  ["a*?", "aaa", "aaa"],
  ["x|xy|xyz", "axyz", "xyz"],
  ["(a|ab)(c|bcd)(d*)", "abcd", "abcd"],
  ["^(GET|POST) /[^ ]+", "GET /a/b c", "GET /a/b"],
  ["\\d+\\.\\d+", "v1.36.0", "1.36"],
  ["[0-9]+$", "a1b22", "22"],
  ["a$|b", "ab", "b"],
  ["\\$\\(x\\)", "$(x)", "$(x)"],
  ["é+", "caféé", "éé"],
];

for (const [what, options, cases] of [
  ["basic", BASIC, BASIC_MATCHES],
  ["extended", EXTENDED, EXTENDED_MATCHES],
] as const) {
  test(`${what} expressions mean what POSIX and GNU say`, async () => {
    for (const [source, text, found] of cases) assert.equal(await firstMatch(source, text, options), found, source);
  });
}

test("invalid expressions are reported", async () => {
  const refused: [source: string, options: ExpressionOptions, why: RegExp][] = [
    ["[a", EXTENDED, /Unmatched \[/],
    ["(a", EXTENDED, /Unmatched \(/],
    ["a)", EXTENDED, /Unmatched \)/],
    ["\\(a", BASIC, /Unmatched \(/],
    ["a\\", BASIC, /Trailing backslash/],
    ["[b-a]", BASIC, /Invalid range end/],
    ["[[:nothing:]]", BASIC, /Invalid character class name/],
    ["a{3,2}", EXTENDED, /Invalid content of/],
    ["\\(a\\)\\1", BASIC, /back-references are more than a simulated container understands/],
    ["(a)\\1", EXTENDED, /back-references/],
    ["(a{100}){100}", EXTENDED, /too big/],
    ["a".repeat(5000), EXTENDED, /too big/],
    ["(".repeat(2000), EXTENDED, /./],
  ];
  for (const [source, options, why] of refused)
    await assert.rejects(Expression.compile(source, options, FREE), (error: unknown) => {
      assert.ok(error instanceof ExpressionError, source);
      assert.match(error.message, why);
      return true;
    });
});

test("no expression takes longer than its size and the text's length", async () => {
  const text = "a".repeat(20_000);
  for (const source of ["(a+)+b", "(a|aa)+b", "(a*)*b", "(.*a){20}b", "^(([a-z])+.)+[A-Z]([a-z])+b"]) {
    const expression = await Expression.compile(source, EXTENDED, FREE);
    assert.equal(await expression.test(text, FREE), false, source);
  }
});

test("the work of a match is counted, and one that would take too long is refused", async () => {
  let steps = 0;
  const counting = {
    spend: (count: number) => {
      steps += count;
      return undefined;
    },
  };
  const expression = await Expression.compile("(a|b)*c", EXTENDED, FREE);
  await expression.test("ab".repeat(1000), counting);
  assert.ok(steps > 10);
  await assert.rejects(expression.test("a".repeat(4_000_000), counting), /the line is too long for it/);
});

test("expressions can ignore case, match whole lines or words, or be fixed texts", async () => {
  assert.equal(await firstMatch("error", "an ERROR", { ...BASIC, ignoreCase: true }), "ERROR");
  assert.equal(await firstMatch("a|b", "ab", { ...EXTENDED, whole: "line" }), undefined);
  assert.equal(await firstMatch("foo", "foobar", { ...BASIC, whole: "word" }), undefined);
  assert.equal(await firstMatch("a.b*[c]\\(^$+", "xa.b*[c]\\(^$+", { ...EXTENDED, fixed: true }), "a.b*[c]\\(^$+");
});
