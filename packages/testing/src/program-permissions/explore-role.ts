import { permissionText, rolesFor } from "@konverge/runtime";
import { type ObservedAccess, ProgramAccess } from "../black-box/program-access.ts";
import { type ProgramRun, prepareScenario, runProgram } from "../black-box/program-run.ts";
import type { ProgramScenario } from "../black-box/scenario-file.ts";
import { type EndState, type EndStateMask, endStateDifferences, endStateMask } from "../explorer/end-state.ts";
import { type LearnedRole, type LearnRoleOptions, PLAIN, userOf, withRoles } from "./learn-role.ts";

/** What a program does without one rule of the learned role. */
export interface RunWithoutRule {
  /** The permissions that were taken away, as text. */
  readonly without: readonly string[];
  /** How many requests were refused. */
  readonly refused: number;
  readonly outcome: "fails" | "exits" | "hot loop" | "passes" | "differs" | "not needed";
  /** What happened, as a sentence. */
  readonly message: string;
}

/** More refused requests than this in one run are a hot loop. */
const HOT_LOOP = 200;

/**
 * Plays the scenarios under the learned role without each of its rules (all verbs on a resource). A program should come to a stop that it
 * reports: what ends, repeats its requests without pause, or ends in another state although the scenario passes, is worth knowing.
 */
export async function exploreRole(
  learned: LearnedRole,
  options: LearnRoleOptions,
  onResult: (result: RunWithoutRule) => void = () => {},
): Promise<RunWithoutRule[]> {
  const { name = "learned" } = options;
  const rules = Map.groupBy(learned.permissions, ({ permission: { group, resource } }) => `${group}/${resource}`);
  const results: RunWithoutRule[] = [];
  const usual = new Map<string, { end: EndState; mask: EndStateMask }>();
  const rolesWithout = (taken: readonly ObservedAccess[]) =>
    rolesFor(
      learned.permissions.filter((one) => !taken.includes(one)).map(({ permission }) => permission),
      { name, serviceAccount: learned.account },
    );
  const played = async (scenario: ProgramScenario, taken: readonly ObservedAccess[]) => {
    const access = new ProgramAccess();
    const state = await prepareScenario(withRoles(scenario, rolesWithout(taken)));
    const run = await runProgram({ ...options, scenario, access, account: userOf(learned.account) }, state, PLAIN);
    return { run, refused: [...access.refused.values()].reduce((sum, n) => sum + n, 0) };
  };
  for (const taken of rules.values()) {
    const without = taken.map(({ permission }) => permissionText(permission));
    let result: RunWithoutRule | undefined;
    for (const scenario of options.scenarios) {
      options.onRun?.(`${scenario.name}: without ${without.join(", ")}`);
      let reference = usual.get(scenario.name);
      if (!reference) {
        const [one, other] = [(await played(scenario, [])).run.endState, (await played(scenario, [])).run.endState];
        reference = { end: one ?? new Map(), mask: one && other ? endStateMask(one, other) : new Set() };
        usual.set(scenario.name, reference);
      }
      const { run, refused } = await played(scenario, taken);
      if (refused === 0) continue;
      result = { without, refused, ...outcomeOf(run, refused, reference) };
      break;
    }
    result ??= { without, refused: 0, outcome: "not needed", message: "no scenario sends these requests every time" };
    results.push(result);
    onResult(result);
  }
  return results;
}

function outcomeOf(
  { exits, failure, endState }: ProgramRun,
  refused: number,
  { end, mask }: { end: EndState; mask: EndStateMask },
): Pick<RunWithoutRule, "outcome" | "message"> {
  if (refused > HOT_LOOP) return { outcome: "hot loop", message: `it repeated refused requests ${refused} times` };
  if (exits.length > 0) return { outcome: "exits", message: `it ended ${exits.length} times` };
  if (failure || !endState) return { outcome: "fails", message: failure?.message ?? "the scenario did not end" };
  const [difference] = endStateDifferences(end, endState, mask);
  return difference === undefined
    ? { outcome: "passes", message: "the scenario passes without it, and ends in the same state" }
    : { outcome: "differs", message: `the scenario passes, but ${difference}` };
}
