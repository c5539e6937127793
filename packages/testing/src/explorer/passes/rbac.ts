import { comparePermissions, type Permission, PermissionRecorder, permissionText } from "@konverge/runtime";
import type { RunnableOperator } from "../../environment/runnable-operator.ts";
import type { FaultInjector } from "../../environment/test-backend.ts";
import type { Scenario } from "../../environment/test-environment.ts";
import { inPart } from "../part.ts";
import type { Timeline } from "../timeline.ts";
import { failureText } from "./idle-operator.ts";
import type { PassOptions, PassProblem, PassResult } from "./pass.ts";
import { type Recording, recorded } from "./recording.ts";

/**
 * Runs scenarios under exactly the generated role, then again without each of its rules (all verbs on a resource). With the
 * whole role no request may be forbidden and every verb must be used; without any one of its rules some request must be
 * forbidden. Verbs that are declared as rarely needed may be unused.
 */
export async function rbacPass(
  operator: RunnableOperator,
  scenarios: readonly Scenario[],
  options: PassOptions = {},
): Promise<PassResult> {
  const problems: PassProblem[] = [];
  const report = (message: string, timeline: Timeline = []) => problems.push({ message, timeline });
  const used: Permission[][] = [];
  for (const scenario of scenarios) {
    const recorder = new PermissionRecorder();
    const denied = new Set<string>();
    const faults: FaultInjector = { around: recorder.transport, denied: (message) => denied.add(message) };
    const played = async (recording: Recording) => {
      try {
        await scenario(recording.observed);
      } catch (error) {
        recording.report(failureText(error));
      }
    };
    const run = await recorded(played, options, faults, async (recording) => {
      for (const message of denied) recording.report(`the role does not allow what the operator does: ${message}`);
    });
    problems.push(...run.problems);
    used.push(recorder.permissions({ byNamespace: true }));
  }
  const home = `${options.environment?.namespace ?? "stage"}-system`;
  const declared = operator.permissions(home, {});
  const { superfluous } = comparePermissions(declared, used.flat());
  if (options.unusedPermissions !== false)
    for (const access of superfluous) report(`the role allows what no scenario needs: ${permissionText(access)}`);
  const rules = Map.groupBy(declared, ({ group, resource, name }) => JSON.stringify([group, resource, name]));
  let tried = 0;
  for (const rule of inPart([...rules.values()], options.part)) {
    const needed = rule.filter(({ rare }) => !rare);
    const player = used.findIndex((accesses) => needed.some((held) => accesses.some((one) => isUseOf(held, one))));
    if (player < 0) continue;
    tried++;
    const unmissed = await timelineWithout(scenarios[player]!, rule, options);
    if (unmissed) {
      report(`no scenario fails without this rule of the role: ${rule.map(permissionText).join(", ")}`, unmissed);
    }
  }
  return { tried, runs: tried + scenarios.length, problems };
}

/** What happens without a rule if nothing goes wrong: the first refusal is enough, and ends the run. */
async function timelineWithout(
  scenario: Scenario,
  rule: readonly Permission[],
  options: PassOptions,
): Promise<Timeline | undefined> {
  const taken = new Set(rule.map(permissionText));
  const refused = Promise.withResolvers<never>();
  refused.promise.catch(() => {});
  const faults: FaultInjector = {
    restrictPermissions: (held) => held.filter((one) => !taken.has(permissionText(one))),
    denied: (message) => refused.reject(new Error(message)),
  };
  const played = ({ observed }: Recording) => Promise.race([scenario(observed), refused.promise]);
  try {
    const { result } = await recorded(played, options, faults, async ({ timeline }) => [...timeline]);
    return result;
  } catch {
    return undefined;
  }
}

/** Whether a use of a permission is one of this one. */
function isUseOf(held: Permission, seen: Permission): boolean {
  return held.verb === seen.verb && held.group === seen.group && held.resource === seen.resource;
}
