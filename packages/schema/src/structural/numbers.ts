import { goText, type Schema, WholeFloat } from "@konverge/core";

/**
 * Numbers as API servers see them: JSON without a fraction or exponent that fits 64 bits is an integer, anything else a
 * float. A {@link WholeFloat} is one, too.
 */
export type Numeric = number | bigint | WholeFloat;

const MIN_INT64 = -(2n ** 63n);
const MAX_INT64 = 2n ** 63n - 1n;

export function isNumeric(value: unknown): value is Numeric {
  return typeof value === "number" || typeof value === "bigint" || value instanceof WholeFloat;
}

/** Whether a number is an int64 to an API server. */
export function isInt64(value: Numeric): value is number | bigint {
  if (Number.isSafeInteger(value)) return true;
  return !(value instanceof WholeFloat) && fitsInt64(value);
}

/** Whether the value of a number could be an int64. */
function fitsInt64(value: number | bigint): boolean {
  if (typeof value === "number" && !Number.isInteger(value)) return false;
  const integer = BigInt(value);
  return integer >= MIN_INT64 && integer <= MAX_INT64;
}

/** The number itself, whatever it was written as. */
export function plainNumber(value: Numeric): number | bigint {
  return value instanceof WholeFloat ? value.value : value;
}

/** What a number broke: a sentence for a field's own error, or (`general`) one about the object as a whole. */
export interface NumberProblem {
  text: string;
  value?: Numeric;
  general?: true;
}

/** Checks a number's range, multipleOf, minimum and maximum, in that order. `path` is for the messages. */
export function numberProblems(schema: Schema, value: Numeric, path: string): NumberProblem[] {
  const { multipleOf, minimum, maximum } = schema;
  const capacity = capacityOf(schema);
  const plain = plainNumber(value);
  const problems: NumberProblem[] = [];
  const outOfRange = (number: number | bigint, what: string): boolean => {
    if (capacity === undefined || capacity.holds(number)) return false;
    problems.push({ text: `${what} value must be of type ${capacity.text} in ${path}`, general: true });
    return true;
  };
  outOfRange(plain, "Checked");
  // A bound that the type cannot hold makes every value invalid; it is then compared as a float.
  const boundOf = (bound: number, what: string): Bound => {
    const fits = !outOfRange(bound, what);
    if (!fits || !isInt64(value))
      return { limit: bound, text: goText(Number.isInteger(bound) ? new WholeFloat(bound) : bound) };
    const limit = Math.trunc(bound);
    return { limit, text: String(BigInt(limit)) };
  };
  if (multipleOf !== undefined) {
    const problem = multipleProblem(value, boundOf(multipleOf, "MultipleOf"), path);
    if (problem) problems.push(problem);
  }
  if (minimum !== undefined) {
    const { limit, text } = boundOf(minimum, "Minimum boundary");
    if (schema.exclusiveMinimum ? plain <= limit : plain < limit) {
      const relation = schema.exclusiveMinimum ? "greater than" : "greater than or equal to";
      problems.push({ text: `${path} in body should be ${relation} ${text}`, value });
    }
  }
  if (maximum !== undefined) {
    const { limit, text } = boundOf(maximum, "Maximum boundary");
    if (schema.exclusiveMaximum ? plain >= limit : plain > limit) {
      const relation = schema.exclusiveMaximum ? "less than" : "less than or equal to";
      problems.push({ text: `${path} in body should be ${relation} ${text}`, value });
    }
  }
  return problems;
}

/** A bound as a value is compared with it (integers with its integer part), and as messages show it. */
interface Bound {
  limit: number;
  text: string;
}

function multipleProblem(value: Numeric, factor: Bound, path: string): NumberProblem | undefined {
  const { limit, text } = factor;
  if (limit <= 0) return { text: `factor MultipleOf declared for ${path} must be positive: ${text}`, value: limit };
  const plain = plainNumber(value);
  const isMultiple =
    isInt64(value) && Number.isInteger(limit)
      ? BigInt(plain) % BigInt(limit) === 0n
      : isNearInteger(limit < 1 ? (1 / limit) * Number(plain) : Number(plain) / limit);
  return isMultiple ? undefined : { text: `${path} in body should be a multiple of ${text}`, value };
}

/** Whether a float is an integer, give or take the error of computing it. */
export function isNearInteger(value: number): boolean {
  if (!(Math.abs(value) <= Number.MAX_SAFE_INTEGER)) return false;
  if (Number.isInteger(value)) return true;
  // Only positive numbers get the tolerance, and only toward the integer below.
  const below = Math.floor(value);
  return below > 0 && (value - below) / (value + below) < 1e-9;
}

interface Capacity {
  /** As messages name it: `integer with format int32`. */
  text: string;
  holds(value: number | bigint): boolean;
}

const MAX_FLOAT32 = 3.4028234663852886e38;

function capacityOf({ type, format }: Schema): Capacity | undefined {
  if (type === "integer") {
    if (format === "int32") {
      return {
        text: "integer with format int32",
        holds: (value) => fitsInt64(value) && value >= -(2 ** 31) && value < 2 ** 31,
      };
    }
    return { text: `integer ${format === "int64" ? "with format int64" : "(default format)"}`, holds: fitsInt64 };
  }
  if (type === "number" && format === "float") {
    return { text: "number with format float", holds: (value) => Math.abs(Number(value)) <= MAX_FLOAT32 };
  }
  return undefined;
}
