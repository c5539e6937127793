import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { add, divide, modulo, multiply, negate, subtract } from "./arithmetic.ts";
import { compare, equal } from "./equality.ts";
import { fromJson } from "./json-value.ts";
import { formatSeconds, formatTimestamp, parseGoDuration, parseTimestamp } from "./time.ts";
import { CelError, compareStrings, Duration, Uint, type Value } from "./values.ts";

const [LEAST, MOST] = [-(2n ** 63n), 2n ** 63n - 1n];
const ints = fc.oneof(
  fc.bigInt({ min: LEAST, max: MOST }),
  fc.bigInt({ min: -9n, max: 9n }),
  fc.constantFrom(LEAST, MOST),
);
const uints = fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.bigInt({ min: 0n, max: 9n }));

/** The exact result, or an error where 64 bits do not hold it. */
function exact(result: bigint, [least, most]: readonly [bigint, bigint], of: (value: bigint) => Value): Value {
  return result < least || result > most
    ? new CelError(least === 0n ? "unsigned integer overflow" : "integer overflow")
    : of(result);
}

test("ints are computed exactly or not at all", () => {
  const expected = (result: bigint) => exact(result, [LEAST, MOST], (value) => value);
  fc.assert(
    fc.property(ints, ints, (a, b) => {
      assert.deepEqual(add(a, b), expected(a + b));
      assert.deepEqual(subtract(a, b), expected(a - b));
      assert.deepEqual(multiply(a, b), expected(a * b));
      assert.deepEqual(negate(a), expected(-a));
      if (b === 0n) {
        assert.deepEqual(divide(a, b), new CelError("division by zero"));
        assert.deepEqual(modulo(a, b), new CelError("modulus by zero"));
      } else {
        assert.deepEqual(divide(a, b), expected(a / b));
        // The remainder of the one division that overflows is an error as well.
        assert.deepEqual(modulo(a, b), a === LEAST && b === -1n ? new CelError("integer overflow") : a % b);
      }
    }),
    { numRuns: 1000 },
  );
});

test("uints are computed exactly or not at all", () => {
  const expected = (result: bigint) => exact(result, [0n, 2n ** 64n - 1n], (value) => new Uint(value));
  fc.assert(
    fc.property(uints, uints, (a, b) => {
      const [left, right] = [new Uint(a), new Uint(b)];
      assert.deepEqual(add(left, right), expected(a + b));
      assert.deepEqual(subtract(left, right), expected(a - b));
      assert.deepEqual(multiply(left, right), expected(a * b));
      if (b !== 0n) {
        assert.deepEqual(divide(left, right), new Uint(a / b));
        assert.deepEqual(modulo(left, right), new Uint(a % b));
      }
    }),
    { numRuns: 1000 },
  );
});

const numbers = fc.oneof<fc.Arbitrary<Value>[]>(
  ints,
  uints.map((value) => new Uint(value)),
  fc.double({ noNaN: true }),
);

test("numbers have one order, whatever their types", () => {
  fc.assert(
    fc.property(numbers, numbers, numbers, (a, b, c) => {
      const [ab, ba, bc, ac] = [compare(a, b), compare(b, a), compare(b, c), compare(a, c)] as number[];
      assert.equal(ab, ba === 0 ? 0 : -ba!);
      assert.equal(equal(a, b), ab === 0);
      if (ab! <= 0 && bc! <= 0) assert.ok(ac! <= 0);
    }),
    { numRuns: 1000 },
  );
});

test("nothing equals NaN", () => {
  fc.assert(fc.property(numbers, (a) => equal(a, Number.NaN) === false && equal(Number.NaN, a) === false));
});

test("texts are ordered by code point, as their bytes in UTF-8 are", () => {
  const text = fc.string({ unit: "binary", maxLength: 3 });
  fc.assert(
    fc.property(text, text, (a, b) => {
      assert.equal(compareStrings(a, b), Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b))));
    }),
    { numRuns: 1000 },
  );
});

test("moments and durations survive being written", () => {
  fc.assert(
    fc.property(fc.date({ noInvalidDate: true, min: new Date("0001-01-01"), max: new Date("9999-12-31") }), (date) => {
      const time = parseTimestamp(date.toISOString())!;
      assert.equal(time.seconds * 1000 + time.nanos / 1e6, date.getTime());
      assert.deepEqual(parseTimestamp(formatTimestamp(time)), time);
    }),
  );
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 50n), max: 2n ** 50n }), (nanos) => {
      const duration = new Duration(nanos);
      assert.deepEqual(parseGoDuration(formatSeconds(duration)), duration);
    }),
  );
});

test("JSON equals itself, and nothing that differs in a leaf", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      assert.equal(equal(fromJson(a), fromJson(structuredClone(a))), true);
      // Whole numbers of any type are equal when their values are, and -0 is 0.
      const text = (value: unknown) => JSON.stringify(value, (_, inner: unknown) => sorted(inner));
      assert.equal(equal(fromJson(a), fromJson(b)), text(a) === text(b));
    }),
  );
});

function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
