/** Every operator and function for all the types it takes, made by combination. */

const NUMBERS = ["7", "2", "-3", "7u", "2u", "7.5", "2.0", "-0.5"];
const ORDERED = [
  ["true", "false"],
  ["'b'", "'a'"],
  ["b'b'", "b'a'"],
  ["duration('2s')", "duration('1s')"],
  ["timestamp('2021-01-01T00:00:00Z')", "timestamp('2020-01-01T00:00:00Z')"],
  ["2u", "1u"],
  ["2.5", "1.5"],
] as const;
const COMPARISONS = ["<", "<=", ">", ">="];

const typeOf = (number: string) => (number.endsWith("u") ? "uint" : number.includes(".") ? "double" : "int");

const comparisons = [
  ...NUMBERS.flatMap((a) => NUMBERS.map((b) => [a, b] as const)).filter(([a, b]) => a !== b),
  ...ORDERED.slice(0, 5),
].map(([a, b]) => COMPARISONS.map((operator) => `${a} ${operator} ${b}`).join(" || "));

const arithmetic = NUMBERS.flatMap((a) =>
  NUMBERS.filter((b) => typeOf(a) === typeOf(b)).flatMap((b) =>
    (typeOf(a) === "double" ? "+-*/" : "+-*/%").split("").map((operator) => `${a} ${operator} ${b}`),
  ),
);

const limits = [
  "9223372036854775807 + 1",
  "-9223372036854775808 - 1",
  "9223372036854775807 * 2",
  "-(-9223372036854775807 - 1)",
  "(-9223372036854775807 - 1) / -1",
  "18446744073709551615u + 1u",
  "18446744073709551615u * 2u",
  "1u / 0u",
  "1u % 0u",
  "1.0 / 0.0",
  "-1.0 / 0.0",
  "0.0 / 0.0",
  "-(2.5)",
  "duration('1s') - duration('2s')",
  "duration('9223372036s') + duration('9223372036s')",
];

const conversions = [
  "bool(true)",
  "bool('t')",
  "bool('yes')",
  "bytes(b'a')",
  "double(1.5)",
  "double('1e3')",
  "double('x')",
  "double(3u)",
  "duration(duration('1s'))",
  "duration(5)",
  "duration(self.i)",
  "timestamp(timestamp('2020-01-01T00:00:00Z'))",
  "timestamp(1577836800)",
  "timestamp(self.i)",
  "uint(3u)",
  "uint(3)",
  "uint(-3)",
  "uint('3')",
  "uint('-3')",
  "uint(-1.5)",
  "int(9223372036854775807u)",
  "int(18446744073709551615u)",
  "int(1e19)",
  "int('0x10')",
  "string(b'\\xff')",
  "string(1e21)",
  "string(0.1)",
  "string(100000000000000000000000.0)",
  "size({'a': 1})",
  "self.mi.size()",
];

const PARTS = [
  "FullYear",
  "Month",
  "DayOfYear",
  "DayOfMonth",
  "Date",
  "DayOfWeek",
  "Hours",
  "Minutes",
  "Seconds",
  "Milliseconds",
];
const zones = ["'UTC'", "'Asia/Kolkata'", "'-03:30'"].flatMap((zone) =>
  PARTS.map((part) => `self.dt.get${part}(${zone})`),
);

const lists = ORDERED.flatMap(([more, less]) => [
  `[${more}, ${less}].isSorted()`,
  `[${more}, ${less}].min() == ${less}`,
  `[${more}, ${less}].max() == ${less}`,
  `[${more}, ${less}, ${more}].sort()`,
  `[1, 2].sortBy(x, x == 1 ? ${more} : ${less})`,
]);

/** All of them. */
export const OVERLOADS: readonly string[] = [
  ...comparisons,
  ...arithmetic,
  ...limits,
  ...conversions,
  ...zones,
  ...lists,
];
