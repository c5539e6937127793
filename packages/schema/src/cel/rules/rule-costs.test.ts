import assert from "node:assert/strict";
import { test } from "node:test";
import type { Schema } from "@konverge/core";
import { validateRules } from "./validate-rules.ts";

const text: Schema = { type: "string" };
const properties: Record<string, Schema> = {
  x: text,
  y: text,
  count: { type: "integer" },
  texts: { type: "array", items: text },
  numbers: { type: "array", items: { type: "integer" } },
};

/** What a rule reports about a value, and what it cost. */
function run(rule: string, value: Record<string, unknown>): { message: string | undefined; cost: number } {
  const schema: Schema = { type: "object", properties, "x-kubernetes-validations": [{ rule }] };
  const { errors, budget } = validateRules(schema, value);
  return { message: errors[0]?.message, cost: 10_000_000 - budget };
}

const list = (length: number) => Array.from({ length }, (_, index) => index);
const EXCEEDED = /actual cost limit exceeded|running out of cost budget/;

const long = "a".repeat(90_000);
const TOO_EXPENSIVE: [string, string, Record<string, unknown>][] = [
  ["a text replaced in itself", "self.x.replace('a', self.x).size() > 0", { x: long }],
  ["a text put between its own characters", "self.x.replace('', self.x).size() > 0", { x: long }],
  [
    "a text that grows in a loop",
    "self.numbers.all(i, self.x.replace('a', self.x).size() > 0)",
    { x: "a".repeat(3000), numbers: list(1500) },
  ],
  ["long texts joined", "self.texts.map(i, self.x).join(self.x).size() > 0", { x: long, texts: Array(2000).fill("") }],
  [
    "a format with the same text many times",
    "'%s'.format([self.texts.map(i, self.x)]).size() > 0",
    { x: long, texts: Array(2000).fill("") },
  ],
  ["a number with very many digits", "'%.900000000f'.format([1.0]).size() > 0", {}],
  ["a range of very many numbers", "lists.range(self.count).size() > 0", { count: 90_000_000 }],
  ["a quadratic search for duplicates", "self.numbers.distinct().size() > 0", { numbers: list(100_000) }],
  ["a quadratic comparison of sets", "sets.equivalent(self.numbers, self.numbers)", { numbers: list(100_000) }],
  ["lists added in a loop", "self.numbers.map(i, self.numbers + self.numbers).size() > 0", { numbers: list(20_000) }],
  ["long URLs parsed in a loop", "self.numbers.all(i, isURL('http://' + self.x))", { x: long, numbers: list(10_000) }],
  ...[
    "isURL('/a')",
    "url('/' + string(i)).getHost() == ''",
    "quantity(string(i)).isGreaterThan(quantity('-1'))",
    "semver('1.2.' + string(i)).major() == 1",
    "cidr('10.0.0.0/8').containsIP('10.0.0.' + string(j % 8))",
    "duration(string(i) + 's') >= duration('0s')",
    "self.x.matches('^' + string(i % 2))",
  ].map((rule): [string, string, Record<string, unknown>] => [
    `texts parsed in two loops, ${rule}`,
    `self.numbers.all(i, self.numbers.all(j, ${rule} || true))`,
    { x: "0", numbers: list(150) },
  ]),
];

for (const [what, rule, value] of TOO_EXPENSIVE) {
  test(`${what}: the cost is exceeded, and nothing is thrown`, () => {
    assert.match(run(rule, value).message ?? "", EXCEEDED);
  });
}

test("searches take linear time, whatever is searched for", () => {
  const x = "a".repeat(1_000_000);
  const part = "a".repeat(300_000);
  assert.equal(run("self.x.indexOf(self.y) == -1", { x, y: `${part}b` }).message, undefined);
  assert.equal(run("self.x.lastIndexOf(self.y) == -1", { x, y: `${part}b` }).message, undefined);
  assert.equal(run("self.x.lastIndexOf(self.y) == -1", { x, y: `b${part}` }).message, undefined);
  assert.equal(run("self.numbers.all(i, self.x.charAt(i) == 'a')", { x, numbers: list(5000) }).message, undefined);
  assert.equal(run("self.x.trim().size() > 0", { x: `a${" ".repeat(300_000)}a` }).message, undefined);
});

test("positions are counted in code points, in long texts as in short ones", () => {
  for (const filler of ["", "é".repeat(400)]) {
    const x = `${filler}😀b😀c`;
    const at = filler.length;
    const value = { x, count: at };
    for (const rule of [
      "self.x.charAt(self.count) == '😀'",
      "self.x.charAt(self.count + 3) == 'c'",
      "self.x.charAt(self.count + 4) == ''",
      "self.x.indexOf('c') == self.count + 3",
      "self.x.indexOf('😀', self.count + 1) == self.count + 2",
      "self.x.lastIndexOf('😀') == self.count + 2",
      "self.x.lastIndexOf('😀', self.count + 1) == self.count",
      "self.x.substring(self.count + 1, self.count + 3) == 'b😀'",
    ]) {
      assert.equal(run(rule, value).message, undefined, rule);
    }
  }
});

test("what results of ordinary size cost is what they cost on a real server", () => {
  // The text is read (2), its length traversed twice by a tenth (20), and compared with an empty one (0) and a constant.
  assert.equal(run("self.x.replace('a', 'bb') != ''", { x: "a".repeat(100) }).cost, 23 - 1);
  assert.equal(run("'%.3f'.format([1.5]) == '1.500'", {}).message, undefined);
  assert.equal(run("'%.1200f'.format([1.5]).size() == 1202", {}).message, undefined);
});
