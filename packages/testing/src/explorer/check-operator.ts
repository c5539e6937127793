import type { Operator } from "@konverge/runtime";
import type { AnyKind } from "@konverge/schema";
import type { Scenario } from "../environment/test-environment.ts";
import { type ExploreOptions, explore } from "./explore.ts";
import type { Exploration } from "./finding.ts";
import { sampleObject } from "./sample-object.ts";

/** Options of {@link checkOperator}. */
export interface CheckOperatorOptions extends ExploreOptions {
  /** The objects that a user creates, as YAML or objects. Default: one of each kind, generated from its schema. */
  readonly objects?: readonly (string | object)[];
}

/**
 * Explores an operator without a scenario: its objects are created, then deleted, with faults at every point. Empty
 * `findings` mean that it passed.
 *
 * ```ts
 * const { findings } = await checkOperator(noteOperator);
 * assert.deepEqual(findings.map(findingText), []);
 * ```
 */
export async function checkOperator(operator: Operator, options: CheckOperatorOptions = {}): Promise<Exploration> {
  const { objects = operator.kinds.map((kind) => sampleObject(kind)), ...rest } = options;
  const creation: Scenario = async (environment) => {
    await environment.start(operator);
    for (const object of objects) await environment.apply(object);
    await environment.settled();
  };
  const deletion: Scenario = async (environment) => {
    await creation(environment);
    for (const kind of operator.kinds) {
      for (const { metadata } of await environment.list(kind)) {
        await environment.client.delete(kind, keyIn(environment.namespace, kind, metadata.name));
      }
      await environment.until(`all ${kind.plural} are gone`, async () => (await environment.list(kind)).length === 0);
    }
  };
  return explore([creation, deletion], rest);
}

function keyIn(namespace: string, kind: AnyKind, name: string): string {
  return kind.namespaced ? `${namespace}/${name}` : name;
}
