/** An evaluation that was stopped because of its cost. */
export class CostExceeded extends Error {
  constructor() {
    super("operation cancelled: actual cost limit exceeded");
  }
}

/** Traversing a string of more characters once would cost more than any expression may. */
const MOST_CHARACTERS = 10_000_000;
const MOST_ELEMENTS = 1_000_000;

/** Throws for a string that is too long to be made: each function that makes long strings of short ones asks first. */
export function checkCharacters(count: number): void {
  if (count > MOST_CHARACTERS) throw new CostExceeded();
}

/** Throws for a list that is too long to be made, or to be walked through for what that costs. */
export function checkElements(count: number): void {
  if (count > MOST_ELEMENTS) throw new CostExceeded();
}
