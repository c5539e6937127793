import {
  comparePermissions,
  Metrics,
  type Operator,
  operatorPermissions,
  type Permission,
  PermissionRecorder,
  permissionText,
} from "@konverge/runtime";
import type { TestEnvironmentOptions } from "../../environment/embedded-test-backend.ts";
import { operatorContext } from "../../environment/operator-process.ts";
import { runScenario } from "../../environment/run-scenario.ts";
import type { FaultInjector } from "../../environment/test-backend.ts";
import type { Scenario } from "../../environment/test-environment.ts";
import type { PassResult } from "./pass.ts";

/**
 * Runs scenarios under exactly the generated role, then again without each of its rules (all verbs on a resource). With the
 * whole role no request may be forbidden and every verb must be used; without any one of its rules some request must be
 * forbidden. Verbs that are declared as rarely needed may be unused.
 */
export async function rbacPass(
  operator: Operator,
  scenarios: readonly Scenario[],
  options: TestEnvironmentOptions = {},
): Promise<PassResult> {
  const problems: string[] = [];
  const used: Permission[][] = [];
  for (const scenario of scenarios) {
    const recorder = new PermissionRecorder();
    const faults: FaultInjector = {
      around: recorder.transport,
      denied: (message) => problems.push(`the role does not allow what the operator does: ${message}`),
    };
    await runScenario(scenario, options, faults);
    used.push(recorder.permissions({ byNamespace: true }));
  }
  const { registry } = new Metrics({ process: false });
  const parts = operator.create(operatorContext(operator, registry));
  const home = `${options.namespace ?? "stage"}-system`;
  const declared = operatorPermissions(operator, parts, { operatorNamespace: home });
  const { superfluous } = comparePermissions(declared, used.flat());
  for (const access of superfluous) problems.push(`the role allows what no scenario needs: ${permissionText(access)}`);
  const rules = Map.groupBy(declared, ({ group, resource, name }) => JSON.stringify([group, resource, name]));
  let tried = 0;
  for (const rule of rules.values()) {
    const needed = rule.filter(({ rare }) => !rare);
    const player = used.findIndex((accesses) => needed.some((held) => accesses.some((one) => isUseOf(held, one))));
    if (player < 0) continue;
    tried++;
    if (!(await isMissed(scenarios[player]!, rule, options))) {
      problems.push(`no scenario fails without this rule of the role: ${rule.map(permissionText).join(", ")}`);
    }
  }
  return { tried, runs: tried + scenarios.length, problems };
}

/** Whether anything goes wrong without a rule: the first refusal is enough, and ends the run. */
async function isMissed(
  scenario: Scenario,
  rule: readonly Permission[],
  options: TestEnvironmentOptions,
): Promise<boolean> {
  const taken = new Set(rule.map(permissionText));
  const refused = Promise.withResolvers<never>();
  refused.promise.catch(() => {});
  const faults: FaultInjector = {
    restrictPermissions: (held) => held.filter((one) => !taken.has(permissionText(one))),
    denied: (message) => refused.reject(new Error(message)),
  };
  try {
    await runScenario((environment) => Promise.race([scenario(environment), refused.promise]), options, faults);
    return false;
  } catch {
    return true;
  }
}

/** Whether a use of a permission is one of this one. */
function isUseOf(held: Permission, seen: Permission): boolean {
  return held.verb === seen.verb && held.group === seen.group && held.resource === seen.resource;
}
