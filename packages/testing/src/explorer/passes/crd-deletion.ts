import { CustomResourceDefinition } from "@konverge/kinds";
import type { OperatorTestEnvironment } from "../../environment/operator-test-environment.ts";
import type { RunnableOperator } from "../../environment/runnable-operator.ts";
import type {
  RunningOperator,
  Scenario,
  StartableOperator,
  TestEnvironment,
} from "../../environment/test-environment.ts";
import { endState, endStateDifferences } from "../end-state.ts";
import { failureText, restlessness } from "./idle-operator.ts";
import type { PassOptions, PassResult } from "./pass.ts";
import { type Recording, recorded } from "./recording.ts";

/**
 * Runs a scenario and then deletes the operator's CRDs while the operator runs: all objects must be deleted, children
 * included, and the operator must become idle. Then the CRDs are installed again and the scenario runs a second time with
 * the same process, or with the operator that it makes anew: it must end as the first time.
 */
export async function crdDeletionPass(
  operator: RunnableOperator,
  scenario: Scenario,
  options: PassOptions = {},
): Promise<PassResult> {
  let running: RunningOperator | undefined;
  let first: StartableOperator | undefined;
  // A kind that is gone is looked for twice a minute.
  const routine = 100 + 20 * operator.kinds.length;
  const played = ({ observed }: Recording) =>
    scenario(
      withStart(observed, async (started, more) => {
        first = started;
        running = await observed.start(started, more);
        return running;
      }),
    );
  const { problems } = await recorded(played, options, {}, async (recording) => {
    const { environment, observed } = recording;
    await environment.settled();
    const state = await endState(environment, options.mask);
    recording.did("the CRDs are deleted");
    try {
      await deleteDefinitions(environment, operator);
    } catch (error) {
      // Such as a cleanup that cannot work: there is nothing to install again.
      recording.report(failureText(error));
      return;
    }
    await environment.settled();
    recording.report(
      ...(await orphans(environment, operator)),
      ...recording.externalLeaks(),
      ...(await restlessness(environment, { hasReason: true, routine })),
    );
    recording.did("the CRDs are installed again");
    const again = withStart(observed, async (started, more) => {
      if (started === first) {
        await environment.install(started);
        return running!;
      }
      // The scenario makes its operator, with what belongs to it: the process of the first one knows nothing of that.
      await running!.stop();
      return observed.start(started, more);
    });
    try {
      await scenario(again);
      await environment.settled();
      const second = await endState(environment, options.mask);
      recording.report(...endStateDifferences(state, second).map((problem) => `installed again: ${problem}`));
    } catch (error) {
      recording.report(`installed again: ${failureText(error)}`);
    }
  });
  return { tried: operator.kinds.length, runs: 1, problems };
}

/** The same test environment, in which operators are started in another way. */
function withStart(environment: TestEnvironment, start: TestEnvironment["start"]): TestEnvironment {
  return new Proxy(environment, {
    get(target, name) {
      if (name === "start") return start;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

async function deleteDefinitions(environment: OperatorTestEnvironment, operator: RunnableOperator): Promise<void> {
  const names = operator.kinds.map(({ plural, group }) => `${plural}.${group}`);
  for (const name of names) await environment.client.delete(CustomResourceDefinition, name);
  for (const name of names) {
    await environment.until(
      `the CRD ${name} is gone`,
      async () => !(await environment.find(CustomResourceDefinition, name)),
    );
  }
}

/** Objects whose owner was of one of the kinds that are gone. */
async function orphans(environment: OperatorTestEnvironment, operator: RunnableOperator): Promise<string[]> {
  const kinds = new Set(operator.kinds.map(({ kind }) => kind));
  const left: string[] = [];
  await endState(environment, undefined, ({ kind, metadata }) => {
    const owner = metadata.ownerReferences?.find((one) => kinds.has(one.kind));
    if (owner) left.push(`${kind} ${metadata.name} outlives its ${owner.kind}`);
    return false;
  });
  return left;
}
