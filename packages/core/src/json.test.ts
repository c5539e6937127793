import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  isTooDeep,
  MAX_JSON_DEPTH,
  parseJson,
  parseJsonNumbers,
  stringifyJson,
  surveyJson,
  WholeFloat,
} from "./json.ts";

test("integers of 64 bits are kept digit for digit", () => {
  const text = '{"max":9223372036854775807,"list":[-9223372036854775808,9007199254740993],"small":-9007199254740991}';
  const value = parseJson(text);
  assert.deepEqual(value, {
    max: 9223372036854775807n,
    list: [-9223372036854775808n, 9007199254740993n],
    small: -9007199254740991,
  });
  assert.equal(stringifyJson(value), text);
  assert.equal(stringifyJson({ a: 9007199254740993n }, 2), '{\n  "a": 9007199254740993\n}');
  assert.equal(parseJson("9007199254740993"), 9007199254740993n);
});

test("beyond 64 bits an integer is a float, as in Go", () => {
  assert.deepEqual(parseJson("[9223372036854775808]"), [2 ** 63]);
  assert.deepEqual(parseJson("[1234567890123456789012]"), [1.2345678901234568e21]);
});

test("digits inside strings stay as they are", () => {
  assert.deepEqual(parseJson('{"id":"12345678901234567890",":12345678901234567":[1]}'), {
    id: "12345678901234567890",
    ":12345678901234567": [1],
  });
});

test("on request, a whole number written as a decimal is distinguished from an integer", () => {
  const text = '{"a":1.0,"b":1,"c":1e3,"d":1.5,"e":[-2.0],"f":12345678901234567}';
  assert.deepEqual(parseJsonNumbers(text), {
    a: new WholeFloat(1),
    b: 1,
    c: new WholeFloat(1000),
    d: 1.5,
    e: [new WholeFloat(-2)],
    f: 12345678901234567n,
  });
  assert.deepEqual(parseJson('{"a":1.0}'), { a: 1 });
  assert.equal(stringifyJson(parseJsonNumbers('{"a":1.0,"b":1e3}')), '{"a":1,"b":1000}');
});

test("broken JSON is refused, and so is what JSON cannot hold", () => {
  assert.throws(() => parseJson('{"a":'), SyntaxError);
  assert.throws(() => parseJson('{"a":12345678901234567,'), SyntaxError);
  const circular: Record<string, unknown> = { long: 1n };
  circular["self"] = circular;
  assert.throws(() => stringifyJson(circular), TypeError);
});

const isLargeWhole = (number: number) => Number.isInteger(number) && !Number.isSafeInteger(number);

const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constant(null),
    fc.boolean(),
    fc.string(),
    fc.integer(),
    // A large whole float is written like an integer, and read as one: in Go too.
    fc
      .double({ noDefaultInfinity: true, noNaN: true })
      .filter((number) => !Object.is(number, -0) && !isLargeWhole(number)),
    fc
      .bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
      .map((integer) => (Number.isSafeInteger(Number(integer)) ? Number(integer) : integer)),
    fc.array(tie("value")),
    fc.dictionary(fc.oneof(fc.string(), fc.constant("__proto__")), tie("value"), { noNullPrototype: true }),
  ),
})).value;

test("every value survives writing and reading", () => {
  fc.assert(
    fc.property(json, (value) => {
      const text = stringifyJson(value);
      assert.deepEqual(parseJson(text), value);
      assert.equal(stringifyJson(parseJsonNumbers(text)), text);
    }),
  );
});

test("digits in strings are never taken for numbers", () => {
  const text = fc.string({ unit: fc.constantFrom("1", "7", ".", "e", "-", ":", ",", "[", '"', "\\", " ", "0") });
  fc.assert(
    fc.property(text, text, (name, value) => {
      const before = `{${JSON.stringify(`a${name}`)}:${JSON.stringify(value)},"number":`;
      const numberIn = (number: string) =>
        (parseJsonNumbers(`${before}${number}}`) as Record<string, unknown>)["number"];
      assert.equal(numberIn("1"), 1);
      assert.deepEqual(numberIn("1.0"), new WholeFloat(1));
      assert.equal(numberIn("9007199254740993"), 9007199254740993n);
    }),
  );
});

test("a long integer is kept wherever in a text it stands", () => {
  for (let offset = 0; offset < 40; offset++) {
    const text = `${" ".repeat(offset)}[9007199254740993,1,-9223372036854775808]`;
    assert.deepEqual(parseJson(text), [9007199254740993n, 1, -9223372036854775808n]);
  }
});

test("a survey counts keys and levels outside strings, and finds numbers that JSON.parse would lose", () => {
  const survey = (text: string) => surveyJson(text);
  assert.deepEqual(survey('{"a":{"b:\\"c":[1,2]},"d":"x:1.0"}'), {
    keys: 3,
    commas: 2,
    containers: 3,
    depth: 3,
    isPlain: true,
  });
  assert.equal(survey('{"a":1.0}').isPlain, false);
  assert.equal(survey('{"a":1e3}').isPlain, false);
  assert.equal(survey("[9007199254740993]").isPlain, false);
  assert.equal(survey('{"time":"2026-01-01T00:00:00.000000Z","id":"9007199254740993"}').isPlain, true);
});

test("what a survey calls plain is parsed alike by both", () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      if (surveyJson(text).isPlain) assert.deepEqual(parseJsonNumbers(text), JSON.parse(text));
    }),
  );
});

test("a survey and a walk agree on how deep a value is", () => {
  fc.assert(
    fc.property(fc.json(), fc.integer({ min: 0, max: 8 }), (text, levels) => {
      assert.equal(isTooDeep(JSON.parse(text), levels), surveyJson(text).depth > levels);
    }),
  );
});

test("a value that is nested without end in sight is too deep, and nothing overflows", () => {
  const nested = (levels: number) => JSON.parse(`${'[{"a":'.repeat(levels / 2)}1${"}]".repeat(levels / 2)}`) as unknown;
  assert.equal(isTooDeep(nested(MAX_JSON_DEPTH)), false);
  assert.equal(isTooDeep(nested(MAX_JSON_DEPTH + 2)), true);
  assert.equal(isTooDeep(nested(200_000)), true);
});
