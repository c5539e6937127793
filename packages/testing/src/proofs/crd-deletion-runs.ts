import { CustomResourceDefinition } from "@konverge/kinds";
import type { Operator } from "@konverge/runtime";
import { runScenario } from "../stage/embedded-stage.ts";
import type { OperatorTestEnvironment } from "../stage/operator-stage.ts";
import type { RunningOperator, Scenario, TestEnvironment } from "../stage/stage.ts";
import { endState, endStateDifferences } from "./end-state.ts";
import { failureText, restlessness, type SurvivalOptions } from "./play-to-end.ts";

/** What was found out by deleting the definitions of an operator's kinds. */
export interface CrdDeletionFindings {
  /** How many definitions were deleted. */
  readonly deleted: number;
  /** Empty, if all went with them and came back with them. */
  readonly problems: readonly string[];
}

/**
 * Plays a scenario to its end and deletes the operator's CRDs while it runs: all objects must go, children included, and
 * the operator must come to rest instead of asking on and on. Then the CRDs are installed again and the scenario is
 * played a second time, by the same process: it must end as the first one did.
 */
export async function crdDeletionRuns(
  operator: Operator,
  scenario: Scenario,
  options: SurvivalOptions = {},
): Promise<CrdDeletionFindings> {
  const problems: string[] = [];
  let running: RunningOperator | undefined;
  const first: Scenario = (stage) =>
    scenario(
      withStart(stage, async (started, more) => {
        running = await stage.start(started, more);
        return running;
      }),
    );
  await runScenario(first, options.environment, {}, async (stage) => {
    await stage.settled();
    const state = await endState(stage, options.mask);
    await deleteDefinitions(stage, operator);
    await stage.settled();
    problems.push(...(await orphans(stage, operator)), ...(await restlessness(stage, true)));
    const again = withStart(stage, async (started) => {
      await stage.install(started);
      return running!;
    });
    try {
      await scenario(again);
      await stage.settled();
      const second = await endState(stage, options.mask);
      problems.push(...endStateDifferences(state, second).map((problem) => `installed again: ${problem}`));
    } catch (error) {
      problems.push(`installed again: ${failureText(error)}`);
    }
  });
  return { deleted: operator.kinds.length, problems };
}

/** The same stage, on which operators are started in another way. */
function withStart(stage: TestEnvironment, start: TestEnvironment["start"]): TestEnvironment {
  return new Proxy(stage, {
    get(target, name) {
      if (name === "start") return start;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

async function deleteDefinitions(stage: OperatorTestEnvironment, operator: Operator): Promise<void> {
  const names = operator.kinds.map(({ plural, group }) => `${plural}.${group}`);
  for (const name of names) await stage.client.delete(CustomResourceDefinition, name);
  for (const name of names) {
    await stage.until(`the CRD ${name} is gone`, async () => !(await stage.find(CustomResourceDefinition, name)));
  }
}

/** Objects whose owner was of one of the kinds that are gone. */
async function orphans(stage: OperatorTestEnvironment, operator: Operator): Promise<string[]> {
  const kinds = new Set(operator.kinds.map(({ kind }) => kind));
  const left: string[] = [];
  await endState(stage, undefined, ({ kind, metadata }) => {
    const owner = metadata.ownerReferences?.find((one) => kinds.has(one.kind));
    if (owner) left.push(`${kind} ${metadata.name} outlives its ${owner.kind}`);
    return false;
  });
  return left;
}
