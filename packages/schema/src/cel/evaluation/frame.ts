import { GrowingList } from "../values/collections.ts";
import { CostExceeded } from "../values/limits.ts";
import { CelList, type Value } from "../values/values.ts";

/** The variables that an expression is evaluated with; a function is called when the variable is first read. */
export type Inputs = Readonly<Record<string, Value | undefined>>;

/** One evaluation. */
export class Frame {
  readonly inputs: Inputs;
  /** The variables of loops. */
  readonly slots: (Value | undefined)[];
  readonly limit: number;
  cost = 0;
  #unpaid = 0;

  constructor(inputs: Inputs, slots: number, limit: number) {
    this.inputs = inputs;
    this.slots = new Array(slots);
    this.limit = limit;
  }

  /**
   * Pays for the size of what a function made, beyond what is free: a real server pays for its arguments alone, and a short text
   * can become a long one, again and again.
   */
  chargeResult(result: Value): void {
    this.chargeText(typeof result === "string" ? result.length : CHARACTERS_FOR_ONE * elementsOf(result));
  }

  /** Pays for text that a function makes or reads, and for other work in its terms, beyond what is free. */
  chargeText(characters: number): void {
    const units = characters / CHARACTERS_FOR_ONE;
    this.#unpaid += units;
    if (this.#unpaid > FREE_UNITS) this.charge(Math.ceil(units));
  }

  /** Pays for a step; throws when the evaluation has become too expensive. Debts below zero count as endless. */
  charge(cost: number): void {
    this.cost += cost;
    if (this.cost > this.limit || this.cost < 0) throw new CostExceeded();
  }
}

/** So much in all is free, so that costs are those of a real server: a fiftieth of what one rule may cost. */
const FREE_UNITS = 20_000;
const CHARACTERS_FOR_ONE = 10;

/** The list that a loop builds is paid for by its steps. */
function elementsOf(value: Value): number {
  return value instanceof CelList && !(value instanceof GrowingList) ? value.size : 0;
}
