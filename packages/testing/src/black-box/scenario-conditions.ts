import { CelEnvironment, POLICY_BUDGET, type PolicyExpression } from "@konverge/schema/cel";

/** What a CEL expression of a scenario came to. */
export type ConditionResult = { readonly holds: boolean; readonly error?: string };

/** A CEL expression over the objects of the cluster. */
export interface ScenarioCondition {
  readonly text: string;
  check(inputs: { object?: unknown; objects?: readonly unknown[] }): ConditionResult;
}

/** `object` is the one that is waited for, `objects` are all objects of the cluster. */
const environments = {
  object: new CelEnvironment(),
  objects: new CelEnvironment({ dynamic: ["objects"] }),
};
/** Expressions of tests may cost more than those that run for each request. */
const BUDGET = 100 * POLICY_BUDGET;

/** Compiles an expression; throws with what is wrong with it. */
export function scenarioCondition(text: string, about: keyof typeof environments): ScenarioCondition {
  const environment = environments[about];
  const compiled: PolicyExpression = environment.compile(text, "condition");
  if (compiled.error !== undefined) throw new TypeError(compiled.error);
  return {
    text,
    check({ object, objects = [] }) {
      const activation = environment.activate({ object, dynamic: { objects } });
      const { value, error } = activation.evaluate(compiled, BUDGET);
      return error === undefined ? { holds: value === true } : { holds: false, error };
    },
  };
}
