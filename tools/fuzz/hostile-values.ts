import type { Random } from "@konverge/core";

/** Text that is written into a JSON body as it is: numbers and nesting that no value of this language prints as. */
export class RawJson {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** Strings that parsers of names, quantities, times, selectors, expressions and paths have to read to refuse them. */
const STRINGS: readonly string[] = [
  ...[
    "",
    " ",
    "\u0000",
    "\ud800",
    "\u2028",
    "\u202e",
    "😀",
    "é",
    "a\nb",
    "../../../etc/passwd",
    "/",
    "..",
    "-",
    "A",
    "null",
  ],
  ...[
    "1e999999999",
    "9".repeat(400),
    "-1",
    "0.0000000000000000000001n",
    "1Ei",
    "NaN",
    "Infinity",
    "0x10",
    "1_0",
    "+1",
    ".5",
  ],
  ...["9999-12-31T23:59:59Z", "0000-00-00T00:00:00Z", "2020-01-01T00:00:00.123456789123Z", "2020-02-30T00:00:00+25:61"],
  ...[
    "999999h999999m",
    "-1s",
    "1y",
    "256.1.1.1",
    "::ffff:1.2.3.4",
    "fe80::1%eth0",
    "10.0.0.0/33",
    "127.0.0.1",
    "http://[::1",
  ],
  ...[
    "(a+)+$",
    "[",
    "(?=a)",
    "a{1000}{1000}{1000}",
    "\\p{",
    "self.all(x, self.all(y, self.all(z, x == y)))",
    "1/0",
    "self.",
  ],
  ...["{.a[?(@.b)]}", "{range", "{", "$(A)$(A)", "%s%n%x", "a=b,c in (d", "!a", "a notin ()", "a==b,a=b,a!=b", "x>1"],
  ...[
    "__proto__",
    "constructor",
    "toString",
    "a/b/c",
    "example.com/a",
    "x".repeat(254),
    "x".repeat(5000),
    "a.".repeat(200),
  ],
  ...[
    "YWJj",
    "YWJj=",
    "!!!!",
    "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----",
    "* * * * *",
    "*/0 99 * * *",
  ],
  ...[
    "1000000000-2000000000 * * * *",
    "TZ=Nowhere/None * * * * *",
    "@every 1ns",
    "docker.io/x:y@sha256:z",
    "x:y:z",
    "IfNotPresent",
  ],
];

const NUMBERS: readonly unknown[] = [
  ...[0, -0, -1, 1.5, 2 ** 31, 2 ** 31 - 1, -(2 ** 31), 2 ** 32, 2 ** 53, 1e21, -1e308, 5e-324].map((one) => one),
  ...["9223372036854775807", "9223372036854775808", "-9223372036854775809", "1e400", "1e-400", "-0.0", "1E5"],
  ...["1".repeat(300), `0.${"1".repeat(5000)}`, "1e99999999999999999999", "01", "1.", "+1", "NaN"],
].map((one) => (typeof one === "string" ? new RawJson(one) : one));

const NAMES: readonly string[] = [
  ...[
    "name",
    "metadata",
    "spec",
    "status",
    "kind",
    "apiVersion",
    "$patch",
    "$setElementOrder/containers",
    "$retainKeys",
  ],
  ...[
    "$deleteFromPrimitiveList/finalizers",
    "__proto__",
    "constructor",
    "",
    ".",
    "a/b",
    "a~1b",
    "\u0000",
    "f:metadata",
    'k:{"a":1}',
    ".",
  ],
];

/** A value that has no business where it is put. */
export function hostileValue(random: Random, depth = 0): unknown {
  switch (random.below(depth > 3 ? 5 : 9)) {
    case 0:
      return random.pick([null, true, false, [], {}, [null], { "": null }]);
    case 1:
    case 2:
      return random.pick(STRINGS);
    case 3:
      return random.pick(NUMBERS);
    case 4:
      return random.pick(STRINGS) + random.pick(STRINGS);
    case 5:
      return Array.from({ length: random.below(4) }, () => hostileValue(random, depth + 1));
    case 6: {
      const entries = Array.from({ length: random.below(4) }, () => [
        hostileName(random),
        hostileValue(random, depth + 1),
      ]);
      return Object.fromEntries(entries) as object;
    }
    case 7:
      return new RawJson(nested(random, 2 ** random.below(16)));
    default:
      return manyOf(random);
  }
}

export const hostileString = (random: Random): string => random.pick(STRINGS);
export const hostileName = (random: Random): string => random.pick(random.below(3) === 0 ? STRINGS : NAMES);

/** Brackets in brackets, now and then not closed. */
function nested(random: Random, depth: number): string {
  const [open, close] = random.pick([
    ["[", "]"],
    ['{"a":', "}"],
    ['[{"spec":', "}]"],
  ] as const);
  return `${open.repeat(depth)}1${close.repeat(random.below(8) === 0 ? depth - 1 : depth)}`;
}

/** Much of the same, or nearly the same: what is compared with each other takes the square of it if done carelessly. */
function manyOf(random: Random): unknown {
  const length = 2 ** random.below(13);
  switch (random.below(4)) {
    case 0:
      return Array.from({ length }, (_, i) => ({ name: `n${i}`, key: "k", value: i }));
    case 1:
      return Array.from({ length }, () => "same");
    case 2:
      return Object.fromEntries(Array.from({ length }, (_, i) => [`key-${i}`, "v"]));
    default:
      return "a".repeat(length * 16);
  }
}

/** The same value with something hostile somewhere in it; nothing is changed in place. */
export function damaged(random: Random, value: unknown): unknown {
  if (value === null || typeof value !== "object" || value instanceof RawJson || random.below(5) === 0) {
    return hostileValue(random);
  }
  if (Array.isArray(value)) {
    const items = [...(value as unknown[])];
    const at = random.below(items.length + 1);
    items[at] = at < items.length && random.below(3) > 0 ? damaged(random, items[at]) : hostileValue(random);
    return items;
  }
  const entries = Object.entries(value);
  if (entries.length === 0 || random.below(5) === 0) entries.push([hostileName(random), hostileValue(random)]);
  else {
    const at = random.below(entries.length);
    const [name, old] = entries[at]!;
    if (random.below(6) === 0) entries.splice(at, 1);
    else entries[at] = [name, damaged(random, old)];
  }
  return Object.fromEntries(entries);
}
