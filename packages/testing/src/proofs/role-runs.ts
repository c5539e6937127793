import {
  comparePermissions,
  Metrics,
  type Operator,
  operatorPermissions,
  type Permission,
  PermissionRecorder,
  permissionText,
} from "@konverge/runtime";
import type { TestEnvironmentOptions } from "../stage/embedded-ground.ts";
import { runScenario } from "../stage/embedded-stage.ts";
import type { FaultInjector } from "../stage/ground.ts";
import { operatorContext } from "../stage/operator-process.ts";
import type { Scenario } from "../stage/stage.ts";

/** What was found out about an operator's role. */
export interface RbacFindings {
  /** How many rules were taken away, one at a time. */
  readonly tried: number;
  /** Empty, if the role is exactly what the operator needs. */
  readonly problems: readonly string[];
}

/**
 * Plays scenarios under exactly the generated role, then again with each of its rules taken away (all verbs on a resource).
 * Nothing may be refused at first, every verb must be used, and without any of the rules something must be refused: what
 * nobody misses should not be allowed. Verbs that are declared as rarely needed may go unused.
 */
export async function rbacRuns(
  operator: Operator,
  scenarios: readonly Scenario[],
  options: TestEnvironmentOptions = {},
): Promise<RbacFindings> {
  const problems: string[] = [];
  const used: Permission[][] = [];
  for (const scenario of scenarios) {
    const recorder = new PermissionRecorder();
    const fate: FaultInjector = {
      around: recorder.transport,
      denied: (message) => problems.push(`the role does not allow what the operator does: ${message}`),
    };
    await runScenario(scenario, options, fate);
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
      problems.push(`nobody notices that the role lacks: ${rule.map(permissionText).join(", ")}`);
    }
  }
  return { tried, problems };
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
  const fate: FaultInjector = {
    restrictPermissions: (held) => held.filter((one) => !taken.has(permissionText(one))),
    denied: (message) => refused.reject(new Error(message)),
  };
  try {
    await runScenario((stage) => Promise.race([scenario(stage), refused.promise]), options, fate);
    return false;
  } catch {
    return true;
  }
}

/** Whether a use of a permission is one of this one. */
function isUseOf(held: Permission, seen: Permission): boolean {
  return held.verb === seen.verb && held.group === seen.group && held.resource === seen.resource;
}
