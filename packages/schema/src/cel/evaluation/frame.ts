import type { Value } from "../values/values.ts";

/** The variables that an expression is evaluated with; a function is called when the variable is first read. */
export type Inputs = Readonly<Record<string, Value | undefined>>;

/** One evaluation. */
export class Frame {
  readonly inputs: Inputs;
  /** The variables of loops. */
  readonly slots: (Value | undefined)[];
  readonly limit: number;
  cost = 0;

  constructor(inputs: Inputs, slots: number, limit: number) {
    this.inputs = inputs;
    this.slots = new Array(slots);
    this.limit = limit;
  }

  /** Pays for a step; throws when the evaluation has become too expensive. Debts below zero count as endless. */
  charge(cost: number): void {
    this.cost += cost;
    if (this.cost > this.limit || this.cost < 0) throw new CostExceeded();
  }
}

/** An evaluation that was stopped because of its cost. */
export class CostExceeded extends Error {
  constructor() {
    super("operation cancelled: actual cost limit exceeded");
  }
}
