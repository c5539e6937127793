/**
 * What plain scalars mean to Kubernetes: YAML 1.1 as its Go library reads it, which is where `on` is true and 0777 is
 * 511, but 1:30 and 2020-01-01 are text.
 */
export function resolvePlain(text: string): unknown {
  const word = WORDS.get(text);
  if (word !== undefined) return word;
  if (!/^[-+.0-9]/.test(text)) return text;
  if (text.startsWith(".")) return floatOf(text) ?? text;
  const plain = text.replaceAll("_", "");
  return integerOf(plain) ?? floatOf(plain) ?? text;
}

const WORDS = new Map<string, unknown>([
  ...["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"].map((word) => [word, true] as const),
  ...["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"].map((word) => [word, false] as const),
  ...["", "~", "null", "Null", "NULL"].map((word) => [word, null] as const),
  ...[".nan", ".NaN", ".NAN"].map((word) => [word, Number.NaN] as const),
  ...[".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"].map((word) => [word, Number.POSITIVE_INFINITY] as const),
  ...["-.inf", "-.Inf", "-.INF"].map((word) => [word, Number.NEGATIVE_INFINITY] as const),
]);

/** An integer that fits 64 bits, signed or not; beyond 2^53 as a bigint. */
export function integerOf(text: string): number | bigint | undefined {
  const match = /^([-+]?)(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)$/.exec(text);
  if (!match) return undefined;
  const [, sign, digits] = match as unknown as [string, string, string];
  const magnitude = BigInt(/^0[0-7]/.test(digits) ? `0o${digits.slice(1)}` : digits);
  if (magnitude >= (sign === "-" ? 2n ** 63n + 1n : 2n ** 64n)) return undefined;
  const value = sign === "-" ? -magnitude : magnitude;
  // Adding zero turns -0 into 0: an integer has no sign of its own there.
  return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) + 0 : value;
}

export function floatOf(text: string): number | undefined {
  if (!/^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}
