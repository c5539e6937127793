import type { Value } from "../values/values.ts";
import type { Attribute, Evaluate } from "./attributes.ts";

/** A planned part of an expression, with what the parts around it need to know. */
export interface Planned {
  readonly evaluate: Evaluate;
  /** Its value, if that is known already. */
  readonly constant?: { readonly value: Value };
  /** The chain of selections that it is, to be extended by further ones. */
  readonly attribute?: Attribute;
}

/** A constant part of an expression that cannot be computed. */
export class PlanError extends Error {}

/** A part whose value is known. */
export function constant(value: Value): Planned {
  return { evaluate: () => value, constant: { value } };
}
