/** The first numbers always mean these values: NaN, 0, null, true, false, the global object, and the process's own object. */
const FIXED = 7;

/** What a number in the memory of a Go program says about the type of the value behind it. */
const TYPE_FLAGS: Readonly<Record<string, number>> = { object: 1, string: 2, symbol: 3, function: 4 };
/** The upper half of a float that is not a number, but a reference. */
const REFERENCE = 0x7ff80000;

/** The values of a table, to be laid out again for another process: see {@link HostValues.copy}. */
export interface CopiedValues {
  readonly values: readonly unknown[];
  readonly counts: readonly number[];
  readonly free: readonly number[];
}

/**
 * The JavaScript values that a Go program holds. Its memory has numbers only: a float is itself, and everything else is a
 * reference, the number of a value in this table. Go counts its references and reports when it has dropped the last one.
 */
export class HostValues {
  readonly #values: unknown[];
  readonly #counts: number[];
  readonly #numbers: Map<unknown, number>;
  readonly #free: number[];

  constructor(global: object, self: object, copied?: CopiedValues) {
    this.#values = copied ? [...copied.values] : [Number.NaN, 0, null, true, false, global, self];
    this.#counts = copied ? [...copied.counts] : new Array(FIXED).fill(Number.POSITIVE_INFINITY);
    this.#free = copied ? [...copied.free] : [];
    this.#numbers = new Map();
    for (const [number, value] of this.#values.entries()) {
      if (number > 0 && this.#counts[number]! > 0) this.#numbers.set(value, number);
    }
  }

  /** Reads a value that Go passes. */
  load(memory: DataView, address: number): unknown {
    const float = memory.getFloat64(address, true);
    if (float === 0) return undefined;
    if (!Number.isNaN(float)) return float;
    return this.#values[memory.getUint32(address, true)];
  }

  /** Passes a value to Go. */
  store(memory: DataView, address: number, value: unknown): void {
    if (typeof value === "number" && value !== 0 && !Number.isNaN(value)) {
      memory.setFloat64(address, value, true);
    } else if (value === undefined) {
      memory.setFloat64(address, 0, true);
    } else if (Number.isNaN(value)) {
      memory.setUint32(address, 0, true);
      memory.setUint32(address + 4, REFERENCE, true);
    } else {
      const flag = value === null ? 0 : (TYPE_FLAGS[typeof value] ?? 0);
      memory.setUint32(address, this.#numberOf(value), true);
      memory.setUint32(address + 4, REFERENCE | flag, true);
    }
  }

  /** Go has dropped a reference. */
  drop(number: number): void {
    const count = --this.#counts[number]!;
    if (count > 0) return;
    this.#numbers.delete(this.#values[number]);
    this.#values[number] = null;
    this.#free.push(number);
  }

  /** The table with each value replaced. */
  copy(replaced: (value: unknown) => unknown): CopiedValues {
    const values = this.#values.map((value, number) => (this.#counts[number]! > 0 ? replaced(value) : null));
    return { values, counts: [...this.#counts], free: [...this.#free] };
  }

  #numberOf(value: unknown): number {
    const known = this.#numbers.get(value);
    const number = known ?? this.#free.pop() ?? this.#values.length;
    if (known === undefined) {
      this.#values[number] = value;
      this.#counts[number] = 0;
      this.#numbers.set(value, number);
    }
    this.#counts[number]!++;
    return number;
  }
}
