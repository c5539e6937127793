/** `quantity()`: quantities such as `500m` and `2Gi`. */
import { own, parseQuantity, Quantity, QuantityError } from "@konverge/core";
import type { Library } from "../types/declarations.ts";
import { CelError, noSuchOverload, Opaque, type Value } from "../values/values.ts";

/** A quantity as Kubernetes holds it while it is small: `value` × 10^`scale`, with a value of 64 bits. */
interface Small {
  readonly value: bigint;
  readonly scale: number;
}

const INT_MIN = -(2n ** 63n);
const INT_MAX = 2n ** 63n - 1n;
const fits = (value: bigint) => value >= INT_MIN && value <= INT_MAX;

class QuantityValue extends Opaque {
  readonly typeName = "kubernetes.Quantity";
  readonly quantity: Quantity;
  readonly small: Small | undefined;
  /** Sums and differences are of another kind inside the API server, which on the right of `==` is an error. */
  readonly isComputed: boolean;

  constructor(quantity: Quantity, small: Small | undefined, isComputed = false) {
    super();
    this.quantity = quantity;
    this.small = small;
    this.isComputed = isComputed;
  }

  equal(other: Value): Value {
    if (!(other instanceof QuantityValue) || other.isComputed) return noSuchOverload(other);
    return this.quantity.equals(other.quantity);
  }

  /** The whole number that this is, in the API server's eyes: one that was written without decimals or thousandths. */
  get integer(): bigint | undefined {
    if (!this.small || this.small.scale < 0) return undefined;
    const value = this.small.value * 10n ** BigInt(this.small.scale);
    return fits(value) ? value : undefined;
  }

  plus(other: QuantityValue): QuantityValue {
    return new QuantityValue(this.quantity.add(other.quantity), addSmall(this.small, other.small), true);
  }

  minus(other: QuantityValue): QuantityValue {
    const negated = other.small && { value: -other.small.value, scale: other.small.scale };
    return new QuantityValue(this.quantity.sub(other.quantity), addSmall(this.small, negated), true);
  }

  override toString(): string {
    return this.quantity.toString();
  }
}

function addSmall(a: Small | undefined, b: Small | undefined): Small | undefined {
  if (!a || !b || b.value === 0n) return a && b ? a : undefined;
  if (a.value === 0n) return b;
  const scale = Math.min(a.scale, b.scale);
  const left = a.value * 10n ** BigInt(a.scale - scale);
  const right = b.value * 10n ** BigInt(b.scale - scale);
  return fits(left) && fits(right) && fits(left + right) ? { value: left + right, scale } : undefined;
}

const SHAPE = /^([+-]?)0*([1-9][0-9]*)?(?:\.([0-9]*))?(.*)$/s;
const DECIMAL: Record<string, number> = { n: -9, u: -6, m: -3, "": 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const BINARY: Record<string, number> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 };

/** How Kubernetes holds a quantity of this text, or undefined when it needs more than 64 bits for it. */
function smallOf(text: string): Small | undefined {
  const [, sign, leading = "", fraction = "", suffix] = SHAPE.exec(text) as unknown as [
    string,
    string,
    string,
    string,
    string,
  ];
  const whole = leading === "" ? "0" : leading;
  const digits = BigInt(whole + fraction) * (sign === "-" ? -1n : 1n);
  const binary = own(BINARY, suffix);
  if (binary !== undefined) {
    const value = digits << BigInt(binary);
    const isShort = fraction === "" && 14 - whole.length - Math.trunc((binary * 3) / 10) >= 0;
    return isShort && fits(value) ? { value, scale: 0 } : undefined;
  }
  const scale = (own(DECIMAL, suffix) ?? Number(suffix.slice(1))) - fraction.length;
  return whole.length + fraction.length <= 18 && scale >= -9 ? { value: digits, scale } : undefined;
}

/** A quantity of its text. */
export function toQuantity(text: string): Value {
  try {
    return new QuantityValue(parseQuantity(text), smallOf(text));
  } catch (error) {
    if (error instanceof QuantityError) return new CelError(error.message);
    throw error;
  }
}

function approximate({ quantity, small }: QuantityValue): Value {
  return small ? Number(small.value) * Number(`1e${small.scale}`) : quantity.asNumber();
}

const compareWith = (read: (order: number) => Value) => (a: QuantityValue, b: QuantityValue) =>
  read(a.quantity.cmp(b.quantity));

const whole = (value: bigint) => new QuantityValue(Quantity.of(value, "DecimalExponent"), { value, scale: 0 });

/** Kubernetes' functions of quantities. */
export const quantity: Library = {
  overloads: [
    ["string_to_quantity", "quantity(string): kubernetes.Quantity", toQuantity],
    ["is_quantity_string", "isQuantity(string): bool", (text: string) => !(toQuantity(text) instanceof CelError)],
    ["quantity_sign", "sign(kubernetes.Quantity): int", ({ quantity }: QuantityValue) => BigInt(quantity.sign())],
    [
      "quantity_is_greater_than",
      "kubernetes.Quantity.isGreaterThan(kubernetes.Quantity): bool",
      compareWith((order) => order > 0),
    ],
    [
      "quantity_is_less_than",
      "kubernetes.Quantity.isLessThan(kubernetes.Quantity): bool",
      compareWith((order) => order < 0),
    ],
    ["quantity_compare_to", "kubernetes.Quantity.compareTo(kubernetes.Quantity): int", compareWith(BigInt)],
    ["quantity_get_float", "kubernetes.Quantity.asApproximateFloat(): double", approximate],
    [
      "quantity_get_int",
      "kubernetes.Quantity.asInteger(): int",
      (q: QuantityValue) => q.integer ?? new CelError("cannot convert value to integer"),
    ],
    ["quantity_is_integer", "kubernetes.Quantity.isInteger(): bool", (q: QuantityValue) => q.integer !== undefined],
    [
      "quantity_add",
      "kubernetes.Quantity.add(kubernetes.Quantity): kubernetes.Quantity",
      (a: QuantityValue, b: QuantityValue) => a.plus(b),
    ],
    [
      "quantity_add_int",
      "kubernetes.Quantity.add(int): kubernetes.Quantity",
      (a: QuantityValue, b: bigint) => a.plus(whole(b)),
    ],
    [
      "quantity_sub",
      "kubernetes.Quantity.sub(kubernetes.Quantity): kubernetes.Quantity",
      (a: QuantityValue, b: QuantityValue) => a.minus(b),
    ],
    [
      "quantity_sub_int",
      "kubernetes.Quantity.sub(int): kubernetes.Quantity",
      (a: QuantityValue, b: bigint) => a.minus(whole(b)),
    ],
  ],
};
