import { operators } from "@konverge/operators";
import { rayOperatorWith } from "@konverge/ray-operator";
import type { Operator } from "@konverge/runtime";
import { SimulatedServe } from "../../operators/ray/test/simulated-serve.ts";

/** The operator with this name. Simulated pods have no Ray dashboard: what the operator asks it is answered here. */
export function measuredOperator(name: string): Operator {
  if (name === "ray-operator") return rayOperatorWith(new SimulatedServe().fetch);
  const operator = operators.find((one) => one.name === name);
  if (!operator) throw new Error(`there is no operator ${name}`);
  return operator;
}
