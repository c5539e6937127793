import { own } from "./own.ts";
/**
 * A quantity in an object: text such as `500m` and `1.5Gi`, or a number. Servers return text. Use {@link parseQuantity}
 * to calculate and compare.
 */
export type QuantityValue = string | number;

/** How a quantity is written: `12M`, `12Mi` or `12e6`. A parsed quantity keeps the format it came in. */
export type QuantityFormat = "DecimalSI" | "BinarySI" | "DecimalExponent";

/** Text that is not a quantity. The message is Kubernetes'. */
export class QuantityError extends Error {
  override readonly name = "QuantityError";
}

const FORMAT_WRONG = `quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`;
const SUFFIX_WRONG = "unable to parse quantity's suffix";
const NUMBER_WRONG = "unable to parse numeric part of quantity";

/** Looser than the expression in the message, because Kubernetes' own scanner is: "." and "m" are zero. */
const SHAPE = /^([+-]?)(0*)([1-9][0-9]*)?(?:\.([0-9]*))?((?:[eEinumkKMGTP]+[-+]?[0-9]*|[-+][0-9]*)?)$/;

/**
 * The most digits, and the largest exponent, that are read. Kubernetes reads more; but a sum with "1e999999999" would take all
 * memory, one with "1e999999" a second, and nothing has as much of anything.
 */
const MOST_DIGITS = 1000;

const DECIMAL_SUFFIXES: Record<string, number> = { n: -9, u: -6, m: -3, "": 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const BINARY_SUFFIXES: Record<string, number> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 };
const DECIMAL_NAMES = new Map(Object.entries(DECIMAL_SUFFIXES).map(([name, exponent]) => [exponent, name]));
const BINARY_NAMES = new Map(Object.entries(BINARY_SUFFIXES).map(([name, exponent]) => [exponent, name]));

/** The finest step a quantity can hold is 10^-9; what is finer is rounded away from zero. */
const NANO = -9;
/**
 * An exact Kubernetes quantity, immutable. It parses, rounds and prints as `resource.Quantity` of apimachinery does,
 * including that text which already looks canonical ("+1", "1.500") is kept as written until arithmetic changes it.
 *
 *     parseQuantity("1.5Gi").add(parseQuantity("512Mi")).toString(); // "2Gi"
 */
export class Quantity {
  readonly format: QuantityFormat;
  /** The value is `unscaled` × 10^`scale`. */
  readonly #unscaled: bigint;
  readonly #scale: number;
  #text: string | undefined;

  /** `text` is what {@link toString} gives, when it is known already. */
  constructor(unscaled: bigint, scale: number, format: QuantityFormat, text?: string) {
    this.#unscaled = unscaled;
    this.#scale = scale;
    this.format = format;
    this.#text = text;
  }

  /** A whole number: `Quantity.of(3)` is "3", `Quantity.of(2048, "BinarySI")` is "2Ki". */
  static of(value: bigint | number, format: QuantityFormat = "DecimalSI"): Quantity {
    return new Quantity(BigInt(value), 0, format);
  }

  /** Thousandths: `Quantity.milli(1500)` is "1500m". */
  static milli(value: bigint | number, format: QuantityFormat = "DecimalSI"): Quantity {
    return new Quantity(BigInt(value), -3, format);
  }

  /** Zero takes the format of what is added to it. */
  add(other: Quantity): Quantity {
    const scale = Math.min(this.#scale, other.#scale);
    return new Quantity(this.#at(scale) + other.#at(scale), scale, this.isZero() ? other.format : this.format);
  }

  /** Zero takes the format of what is subtracted from it. */
  sub(other: Quantity): Quantity {
    return this.add(other.neg());
  }

  mul(factor: bigint | number): Quantity {
    return new Quantity(this.#unscaled * BigInt(factor), this.#scale, this.format);
  }

  neg(): Quantity {
    return new Quantity(-this.#unscaled, this.#scale, this.format);
  }

  /** -1, 0 or 1. */
  sign(): number {
    return this.#unscaled < 0n ? -1 : this.#unscaled > 0n ? 1 : 0;
  }

  isZero(): boolean {
    return this.#unscaled === 0n;
  }

  /** -1, 0 or 1 as this is less than, equal to or greater than `other`, whatever their formats. */
  cmp(other: Quantity): number {
    const sign = this.sign();
    if (sign !== other.sign()) return Math.sign(sign - other.sign());
    const magnitude = this.#magnitude() - other.#magnitude();
    if (sign !== 0 && magnitude !== 0) return Math.sign(magnitude) * sign;
    const scale = Math.min(this.#scale, other.#scale);
    const [mine, others] = [this.#at(scale), other.#at(scale)];
    return mine < others ? -1 : mine > others ? 1 : 0;
  }

  /** Whether both have the same value, in any format: "1024Mi" and "1Gi". */
  equals(other: Quantity): boolean {
    return this.cmp(other) === 0;
  }

  /** The nearest number; Infinity when too large for one. */
  asNumber(): number {
    return Number(`${this.#unscaled}e${this.#scale}`);
  }

  /** Rounded away from zero to a whole number. */
  value(): bigint {
    return this.scaledValue(0);
  }

  /** In thousandths, rounded away from zero: the unit in which CPU is usually counted. */
  milliValue(): bigint {
    return this.scaledValue(-3);
  }

  /** In units of 10^`scale`, rounded away from zero. */
  scaledValue(scale: number): bigint {
    return this.#scale >= scale ? this.#at(scale) : divideAwayFromZero(this.#unscaled, scale - this.#scale);
  }

  /** The canonical text: no fraction, no precision lost, the largest suffix that allows both. */
  toString(): string {
    this.#text ??= this.#canonical();
    return this.#text;
  }

  toJSON(): string {
    return this.toString();
  }

  #canonical(): string {
    if (this.isZero()) return "0";
    if (this.format === "BinarySI") {
      const whole = this.value();
      const isWhole = this.#scale >= 0 || this.equals(Quantity.of(whole));
      // Small and fractional binary quantities are shown in decimal, so that nothing is lost.
      if (isWhole && (whole <= -1024n || whole >= 1024n)) {
        const [number, times] = removeFactors(whole, 1024n);
        // Like the decimal suffixes below, one beyond the largest has no name and Kubernetes prints none.
        return `${number}${BINARY_NAMES.get(times * 10) ?? ""}`;
      }
    }
    const [digits, times] = removeFactors(this.#unscaled, 10n);
    const excess = (((this.#scale + times) % 3) + 3) % 3;
    const exponent = this.#scale + times - excess;
    const number = digits * 10n ** BigInt(excess);
    if (this.format === "DecimalExponent") return exponent === 0 ? `${number}` : `${number}e${exponent}`;
    return `${number}${DECIMAL_NAMES.get(exponent) ?? ""}`;
  }

  /** How many digits stand before the decimal point; negative for leading zeros after it. */
  #magnitude(): number {
    return digitCount(this.#unscaled) + this.#scale;
  }

  #at(scale: number): bigint {
    if (this.#unscaled === 0n) return 0n;
    return this.#unscaled * 10n ** BigInt(this.#scale - scale);
  }
}

/** Binary quantities stop here; decimal ones have no bound. */
const LARGEST_BINARY = Quantity.of(2n ** 63n - 1n, "BinarySI");

/** Parses text such as `500m`, `1.5Gi` or `12e6`, or a number; throws a {@link QuantityError}. */
export function parseQuantity(value: QuantityValue): Quantity {
  const text = String(value);
  const match = text === "" ? null : SHAPE.exec(text);
  if (!match) throw new QuantityError(FORMAT_WRONG);
  const [, sign, zeros, leading = "", fraction = "", suffix] = match as unknown as [string, ...string[]];
  const { format, exponent } = interpretSuffix(suffix!);
  const number = leading === "" ? "0" : leading;
  const digits = number + fraction;
  if (digits.length > MOST_DIGITS) throw new QuantityError(NUMBER_WRONG);
  const isBinary = format === "BinarySI";

  // Short numbers take another way through Kubernetes' parser, the one that forgives missing digits and keeps the text.
  const scale = (isBinary ? 0 : exponent) - fraction.length;
  const isShort = isBinary
    ? fraction === "" && number.length + (exponent * 3) / 10 <= 14
    : digits.length <= 18 && scale >= NANO;
  if (!isShort && zeros + leading + fraction === "") throw new QuantityError(NUMBER_WRONG);

  const magnitude = BigInt(digits);
  const isCanonical = isBinary
    ? (magnitude & 7n) !== 0n
    : scale % 3 === 0 && !digits.endsWith("000") && !digits.startsWith("0");
  const kept = isShort && isCanonical ? text : undefined;
  const unscaled = (sign === "-" ? -magnitude : magnitude) * (isBinary ? 2n ** BigInt(exponent) : 1n);
  const quantity = new Quantity(...roundToNano(unscaled, scale), format, kept);
  return isBinary ? boundBinary(quantity) : quantity;
}

function boundBinary(quantity: Quantity): Quantity {
  const size = quantity.sign() < 0 ? quantity.neg() : quantity;
  if (size.cmp(LARGEST_BINARY) > 0) return LARGEST_BINARY.mul(quantity.sign());
  if (quantity.isZero() || size.cmp(Quantity.of(1)) >= 0) return quantity;
  return new Quantity(quantity.scaledValue(NANO), NANO, "DecimalSI");
}

/** The text under which Kubernetes stores a quantity given in JSON as a string or a number. */
export function canonicalQuantity(value: QuantityValue): string {
  return parseQuantity(String(value).trim()).toString();
}

function interpretSuffix(suffix: string): { format: QuantityFormat; exponent: number } {
  const decimal = own(DECIMAL_SUFFIXES, suffix);
  if (decimal !== undefined) return { format: "DecimalSI", exponent: decimal };
  const binary = own(BINARY_SUFFIXES, suffix);
  if (binary !== undefined) return { format: "BinarySI", exponent: binary };
  const exponent = /^[eE]([-+]?[0-9]+)$/.exec(suffix)?.[1];
  if (exponent === undefined || exponent.length > MOST_DIGITS) throw new QuantityError(SUFFIX_WRONG);
  const value = BigInt(exponent);
  if (value !== BigInt.asIntN(64, value)) throw new QuantityError(SUFFIX_WRONG);
  const cut = Number(BigInt.asIntN(32, value));
  if (cut > MOST_DIGITS) throw new QuantityError(SUFFIX_WRONG);
  return { format: "DecimalExponent", exponent: cut };
}

function roundToNano(unscaled: bigint, scale: number): [unscaled: bigint, scale: number] {
  return scale >= NANO ? [unscaled, scale] : [divideAwayFromZero(unscaled, NANO - scale), NANO];
}

/** `value` / 10^`digits`, rounded away from zero. */
function divideAwayFromZero(value: bigint, digits: number): bigint {
  if (value === 0n) return 0n;
  const unit = value < 0n ? -1n : 1n;
  if (digits > digitCount(value)) return unit;
  const divisor = 10n ** BigInt(digits);
  const quotient = value / divisor;
  return quotient * divisor === value ? quotient : quotient + unit;
}

function digitCount(value: bigint): number {
  return String(value < 0n ? -value : value).length;
}

function removeFactors(value: bigint, factor: bigint): [value: bigint, times: number] {
  let times = 0;
  let rest = value;
  while (rest % factor === 0n) {
    rest /= factor;
    times++;
  }
  return [rest, times];
}
