import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { canonicalQuantity, parseQuantity, Quantity, QuantityError, type QuantityFormat } from "./quantity.ts";

/** What resource.Quantity of apimachinery 0.36 makes of each text. */
const PARSED: [text: string, printed: string, format: QuantityFormat][] = [
  ["0", "0", "DecimalSI"],
  ["0Ki", "0", "BinarySI"],
  ["1000m", "1", "DecimalSI"],
  ["1000", "1k", "DecimalSI"],
  ["0.5", "500m", "DecimalSI"],
  [".5", "500m", "DecimalSI"],
  ["-.5", "-500m", "DecimalSI"],
  ["1.5", "1500m", "DecimalSI"],
  ["1500u", "1500u", "DecimalSI"],
  ["100k", "100k", "DecimalSI"],
  ["1024Mi", "1Gi", "BinarySI"],
  ["1.5Gi", "1536Mi", "BinarySI"],
  ["1536Ki", "1536Ki", "BinarySI"],
  [".5Ki", "512", "BinarySI"],
  ["1.1Ki", "1126400m", "BinarySI"],
  ["-0.1Ki", "-102400m", "BinarySI"],
  ["0.0005Ki", "512m", "DecimalSI"],
  ["12e6", "12e6", "DecimalExponent"],
  ["1E3", "1E3", "DecimalExponent"],
  ["100e1", "1e3", "DecimalExponent"],
  ["1.25e3", "1250", "DecimalExponent"],
  ["0.1e-3", "100e-6", "DecimalExponent"],
  ["1e21", "1e21", "DecimalExponent"],
  ["1E", "1E", "DecimalSI"],
  // Finer than a nano is rounded away from zero.
  ["0.1n", "1n", "DecimalSI"],
  ["-0.1n", "-1n", "DecimalSI"],
  ["1e-12", "1e-9", "DecimalExponent"],
  [".1234567890123456789", "123456790n", "DecimalSI"],
  // Binary quantities end at 2^63 - 1, decimal ones nowhere.
  ["8Ei", "9223372036854775807", "BinarySI"],
  ["-9Ei", "-9223372036854775807", "BinarySI"],
  ["99999999999999999999", "99999999999999999999", "DecimalSI"],
  // Text that passes for canonical is kept.
  ["+1", "+1", "DecimalSI"],
  ["01", "01", "DecimalSI"],
  ["1.", "1.", "DecimalSI"],
  ["1.500", "1.500", "DecimalSI"],
  ["1.000", "1", "DecimalSI"],
  ["1e4294967296", "1e4294967296", "DecimalExponent"],
  // Oddities of the reference, kept because a server would store the same.
  ["1000E", "1", "DecimalSI"],
  ["m", "0", "DecimalSI"],
  [".", "0", "DecimalSI"],
  ["-", "0", "DecimalSI"],
];

for (const [text, printed, format] of PARSED) {
  test(`${JSON.stringify(text)} is printed as ${printed}`, () => {
    const quantity = parseQuantity(text);
    assert.equal(quantity.toString(), printed);
    assert.equal(quantity.format, format);
  });
}

const WRONG_FORM = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
for (const [text, message] of [
  ["", WRONG_FORM],
  ["hello", WRONG_FORM],
  ["1 ", WRONG_FORM],
  ["1.2.3", WRONG_FORM],
  ["1e3Ki", WRONG_FORM],
  ["1e", "unable to parse quantity's suffix"],
  ["1K", "unable to parse quantity's suffix"],
  ["5i", "unable to parse quantity's suffix"],
  ["--1", "unable to parse quantity's suffix"],
  ["1e99999999999999999999", "unable to parse quantity's suffix"],
  ["Ei", "unable to parse numeric part of quantity"],
] as const) {
  test(`${JSON.stringify(text)} is refused in Kubernetes' words`, () => {
    assert.throws(
      () => parseQuantity(text),
      (error) => error instanceof QuantityError && error.message === message,
    );
  });
}

test("arithmetic is exact and keeps the format of the left side, unless that is zero", () => {
  const text = (quantity: Quantity) => quantity.toString();
  const gib = parseQuantity("1.5Gi");
  assert.equal(text(gib.add(parseQuantity("512Mi"))), "2Gi");
  assert.equal(text(gib.sub(parseQuantity("1Gi"))), "512Mi");
  assert.equal(text(gib.mul(3)), "4608Mi");
  assert.equal(text(gib.neg()), "-1536Mi");
  assert.equal(text(gib.add(parseQuantity("1m"))), "1610612736001m");
  assert.equal(text(parseQuantity("0").add(gib)), "1536Mi");
  assert.equal(text(parseQuantity("0").sub(gib)), "-1536Mi");
  assert.equal(text(Quantity.of(1024, "BinarySI")), "1Ki");
  assert.equal(text(Quantity.of(-1024, "BinarySI")), "-1Ki");
  assert.equal(text(Quantity.of(1023, "BinarySI")), "1023");
  assert.equal(text(parseQuantity("0.1").add(parseQuantity("0.2"))), "300m");
  assert.equal(text(parseQuantity("9223372036854775807").add(Quantity.of(1))), "9223372036854775808");
});

test("quantities compare by amount, whatever their format", () => {
  assert.ok(parseQuantity("1024Mi").equals(parseQuantity("1Gi")));
  assert.ok(parseQuantity("+1.500").equals(parseQuantity("1500m")));
  assert.equal(parseQuantity("1k").cmp(parseQuantity("1Ki")), -1);
  assert.equal(parseQuantity("-1").cmp(parseQuantity("-2")), 1);
  assert.equal(parseQuantity("0").cmp(parseQuantity("0Ki")), 0);
  assert.equal(parseQuantity("0n").cmp(parseQuantity("0G")), 0);
});

test("a quantity of a thousand digits is read, and one that would take all memory is not", () => {
  const huge = parseQuantity("1e1000");
  assert.equal(huge.cmp(Quantity.of(1)), 1);
  assert.equal(huge.asNumber(), Number.POSITIVE_INFINITY);
  assert.equal(huge.sub(parseQuantity("1e1000")).toString(), "0");
  assert.equal(parseQuantity("1e-999999999").toString(), "1e-9");
  assert.equal(parseQuantity("9".repeat(1000)).value(), 10n ** 1000n - 1n);
  for (const text of ["1e1001", "1e999999999", "1".repeat(1001), `1e${"0".repeat(2000)}1`]) {
    assert.throws(() => parseQuantity(text), QuantityError);
  }
});

test("text of any length is soon known to be no quantity", () => {
  for (const unit of ["0", "1", "0.", "e", "1e", "+"]) {
    assert.throws(() => parseQuantity(`${unit.repeat(1_000_000)}!`), QuantityError);
  }
});

test("values round away from zero, and a number is the nearest one", () => {
  const values = (text: string) => [parseQuantity(text).value(), parseQuantity(text).milliValue()];
  assert.deepEqual(values("1500u"), [1n, 2n]);
  assert.deepEqual(values("-0.1Ki"), [-103n, -102400n]);
  assert.deepEqual(values("2Gi"), [2147483648n, 2147483648000n]);
  assert.equal(parseQuantity("100m").asNumber(), 0.1);
  assert.equal(parseQuantity("9007199254740993").asNumber(), 9007199254740992);
});

test("a JSON number or padded text gives the text a server would store", () => {
  assert.equal(canonicalQuantity(0.5), "500m");
  assert.equal(canonicalQuantity(1e21), "1e+21");
  assert.equal(canonicalQuantity(" 2 "), "2");
  assert.equal(JSON.stringify({ cpu: Quantity.milli(250) }), '{"cpu":"250m"}');
});

/** A quantity's text beside its exact amount in nanos, rounded away from zero. */
const sample = fc
  .record({
    negative: fc.boolean(),
    // Up to 10^20: beyond 10^21 there is no suffix, and the reference prints none.
    digits: fc.bigInt({ min: 0n, max: 10n ** 11n }),
    places: fc.integer({ min: 0, max: 12 }),
    suffix: fc.constantFrom<[string, bigint, bigint]>(
      ["n", 1n, 10n ** 9n],
      ["u", 1n, 10n ** 6n],
      ["m", 1n, 10n ** 3n],
      ["", 1n, 1n],
      ["k", 10n ** 3n, 1n],
      ["M", 10n ** 6n, 1n],
      ["G", 10n ** 9n, 1n],
      ["e2", 10n ** 2n, 1n],
      ["E-2", 1n, 10n ** 2n],
      ["Ki", 2n ** 10n, 1n],
      ["Mi", 2n ** 20n, 1n],
    ),
  })
  .map(({ negative, digits, places, suffix: [suffix, numerator, denominator] }) => {
    const padded = String(digits).padStart(places + 1, "0");
    const number = `${padded.slice(0, padded.length - places)}${places > 0 ? `.${padded.slice(-places)}` : ""}`;
    const top = digits * numerator * 10n ** 9n;
    const bottom = denominator * 10n ** BigInt(places);
    const nanos = (top + bottom - 1n) / bottom;
    return { text: `${negative ? "-" : ""}${number}${suffix}`, nanos: negative ? -nanos : nanos };
  });
const nanosOf = (quantity: Quantity) => quantity.scaledValue(-9);

test("parsing gives the exact rational, rounded at the ninth place", () => {
  fc.assert(fc.property(sample, ({ text, nanos }) => assert.equal(nanosOf(parseQuantity(text)), nanos)));
});

test("what is printed parses to the same amount, and prints the same again", () => {
  fc.assert(
    fc.property(sample, ({ text, nanos }) => {
      const printed = parseQuantity(text).neg().neg().toString();
      assert.equal(nanosOf(parseQuantity(printed)), nanos);
      assert.equal(parseQuantity(printed).neg().neg().toString(), printed);
      assert.doesNotMatch(printed, /\./);
    }),
  );
});

test("sums, products and comparisons agree with rational arithmetic", () => {
  fc.assert(
    fc.property(sample, sample, fc.bigInt({ min: -1000n, max: 1000n }), (a, b, factor) => {
      const [x, y] = [parseQuantity(a.text), parseQuantity(b.text)];
      assert.equal(nanosOf(x.add(y)), a.nanos + b.nanos);
      assert.equal(nanosOf(x.sub(y)), a.nanos - b.nanos);
      assert.equal(nanosOf(x.mul(factor)), a.nanos * factor);
      assert.equal(x.cmp(y), a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0);
    }),
  );
});
