import { type AnyObject, isNotFound, type KindRef, type KubeObject } from "@konverge/core";
import type { ProgramScenario, ScenarioStep, WaitUntil } from "../black-box/scenario-file.ts";
import type { Scenario, StartableOperator, TestEnvironment } from "../environment/test-environment.ts";

/** What a YAML file describes, as a scenario on virtual time in which these operators run. */
export function scenarioOnVirtualTime(
  { steps }: Pick<ProgramScenario, "steps">,
  operators: readonly StartableOperator[],
): Scenario {
  return async (environment) => {
    for (const operator of operators) await environment.start(operator);
    for (const step of steps) await play(step, environment);
  };
}

async function play(step: ScenarioStep, environment: TestEnvironment): Promise<void> {
  const { client } = environment;
  switch (step.type) {
    case "apply":
      for (const object of step.objects) await environment.apply(object);
      return;
    case "patch": {
      const { kind, key } = await targetOf(step.target, environment);
      const options = step.subresource === undefined ? {} : { subresource: step.subresource };
      await client.patch(kind, key, { merge: step.patch } as never, options);
      return;
    }
    case "delete": {
      const { kind, key } = await targetOf(step.target, environment);
      await client.delete(kind, key);
      return;
    }
    case "wait": {
      const { kind, key } = await targetOf(step.target, environment);
      // No time limit of the file: it says how long a machine may take, and here faults last for minutes of virtual time.
      await environment.until(`${step.target}: ${untilText(step.until)}`, async () =>
        isMet(step.until, await found(environment, kind, key)),
      );
      return;
    }
    case "wait-idle":
      return environment.settled();
    case "pause":
      return environment.advance(step.ms);
  }
}

async function targetOf(target: string, { client, namespace }: TestEnvironment) {
  const parts = target.split("/");
  const kind = (await client.mapper.resolveResource(parts[0]!)) as KindRef<KubeObject>;
  const name = parts.at(-1)!;
  return { kind, key: kind.namespaced ? `${parts.length > 2 ? parts[1] : namespace}/${name}` : name };
}

async function found(
  { client }: TestEnvironment,
  kind: KindRef<KubeObject>,
  key: string,
): Promise<AnyObject | undefined> {
  try {
    return (await client.get(kind, key)) as AnyObject;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

function untilText(until: WaitUntil): string {
  if ("deleted" in until) return "deleted";
  return "condition" in until ? `condition ${until.condition}=${until.status}` : until.expression.text;
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly observedGeneration?: number;
}

function isMet(until: WaitUntil, object: AnyObject | undefined): boolean {
  if ("deleted" in until) return object === undefined;
  if (!object) return false;
  if ("expression" in until) return until.expression.check({ object }).holds;
  const { conditions = [] } = (object["status"] ?? {}) as { conditions?: readonly Condition[] };
  const { generation = 0 } = object.metadata;
  // As `kubectl wait`: a condition about an earlier generation does not count.
  return conditions.some(
    ({ type, status, observedGeneration = generation }) =>
      type === until.condition && status === until.status && observedGeneration >= generation,
  );
}
