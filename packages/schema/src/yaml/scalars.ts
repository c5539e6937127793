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

const LONGEST_INTEGER = 1000;

/** An integer that fits 64 bits, signed or not; beyond 2^53 as a bigint. */
function integerOf(text: string): number | bigint | undefined {
  // Whatever is longer has zeros in front, or does not fit.
  if (text.length > LONGEST_INTEGER) return undefined;
  const match = /^([-+]?)(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)$/.exec(text);
  if (!match) return undefined;
  const [, sign, digits] = match as unknown as [string, string, string];
  const magnitude = BigInt(/^0[0-7]/.test(digits) ? `0o${digits.slice(1)}` : digits);
  if (magnitude >= (sign === "-" ? 2n ** 63n + 1n : sign === "+" ? 2n ** 63n : 2n ** 64n)) return undefined;
  const value = sign === "-" ? -magnitude : magnitude;
  // Adding zero turns -0 into 0: zero has no sign there.
  return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) + 0 : value;
}

function floatOf(text: string): number | undefined {
  if (!/^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}

const CORE = "tag:yaml.org,2002:";
/** Tags that a scalar must look like to have; any other makes it text. */
const RESOLVED = new Set(["bool", "int", "float", "null", "timestamp"].map((name) => CORE + name));

/** What a scalar with a tag means, or why it cannot have that tag. */
export function tagged(tag: string, text: string): { value?: unknown; problem?: string } {
  if (tag === `${CORE}binary`) {
    if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text.replaceAll(/[\r\n]/g, ""))) {
      return { problem: "!!binary value contains invalid base64 data" };
    }
    return { value: Buffer.from(text, "base64").toString() };
  }
  if (!RESOLVED.has(tag)) return { value: text };
  const value = resolvePlain(text);
  const type = tag === `${CORE}timestamp` && TIMESTAMP.test(text) ? "timestamp" : typeOf(value, text);
  const wanted = tag.slice(CORE.length);
  if (type === wanted) return { value };
  if (wanted === "float" && type === "int") return { value: Number(value) };
  return { problem: `cannot decode !!${type} \`${text}\` as a !!${wanted}` };
}

function typeOf(value: unknown, text: string): string {
  if (value === null) return "null";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "string") return "str";
  return integerOf(text.replaceAll("_", "")) === undefined ? "float" : "int";
}

const TIMESTAMP =
  /^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt][0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(?:\.[0-9]+)?(?:Z|[-+][0-9]{2}:[0-9]{2})| [0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(?:\.[0-9]+)?)?$/;
