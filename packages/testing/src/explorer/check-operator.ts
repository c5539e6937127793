import { ApiError } from "@konverge/core";
import type { Operator } from "@konverge/runtime";
import type { AnyKind } from "@konverge/schema";
import type { TestEnvironmentOptions } from "../environment/embedded-test-backend.ts";
import { runScenario } from "../environment/run-scenario.ts";
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
 * `findings` mean that it passed. Throws if the API server or a webhook rejects an object.
 *
 * ```ts
 * assertNoFindings(await checkOperator(noteOperator));
 * ```
 */
export async function checkOperator(operator: Operator, options: CheckOperatorOptions = {}): Promise<Exploration> {
  const { objects = operator.kinds.map((kind) => sampleObject(kind)), ...given } = options;
  // Which images an operator may choose is not known here.
  const rest = {
    // The simplest object does not need all that an operator can do.
    unusedPermissions: options.objects !== undefined,
    ...given,
    environment: { strictImages: false, ...given.environment },
  };
  const created: Scenario = async (environment) => {
    await environment.start(operator);
    for (const object of objects) await environment.apply(object);
  };
  await expectAccepted(created, options.objects === undefined, rest.environment);
  const creation: Scenario = async (environment) => {
    await created(environment);
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

/** A rejected object is no finding: the operator never gets to see it. */
async function expectAccepted(
  created: Scenario,
  isGenerated: boolean,
  environment?: TestEnvironmentOptions,
): Promise<void> {
  try {
    await runScenario(created, environment);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const whose = isGenerated ? "an object that was generated from its schema" : "one of the objects";
    const remedy = isGenerated ? "pass valid objects" : "correct it";
    throw new Error(`${whose} is rejected: ${error.message}; ${remedy}`, { cause: error });
  }
}

function keyIn(namespace: string, kind: AnyKind, name: string): string {
  return kind.namespaced ? `${namespace}/${name}` : name;
}
