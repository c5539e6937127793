import { type Access, AccessRecorder, accessText, compareAccess, Metrics, type Operator } from "@konverge/runtime";
import type { EmbeddedOptions } from "../stage/embedded-ground.ts";
import { playEmbedded } from "../stage/embedded-stage.ts";
import type { Fate } from "../stage/ground.ts";
import { operatorAccess } from "../stage/operator-access.ts";
import { operatorContext } from "../stage/operator-process.ts";
import type { Scenario } from "../stage/stage.ts";

/** What was found out about an operator's role. */
export interface RoleFindings {
  /** How many permissions were taken away, one at a time. */
  readonly tried: number;
  /** Empty, if the role is exactly what the operator needs. */
  readonly problems: readonly string[];
}

/**
 * Plays scenarios under exactly the generated role, then again with each permission taken away. Nothing may be refused at
 * first, and something must be refused without any of them: what nobody misses should not be allowed. Permissions that are
 * declared as rarely needed are not tried.
 */
export async function roleRuns(
  operator: Operator,
  scenarios: readonly Scenario[],
  options: EmbeddedOptions = {},
): Promise<RoleFindings> {
  const problems: string[] = [];
  const used: Access[][] = [];
  for (const scenario of scenarios) {
    const recorder = new AccessRecorder();
    const fate: Fate = {
      around: recorder.transport,
      refused: (message) => problems.push(`the role does not allow what the operator does: ${message}`),
    };
    await playEmbedded(scenario, options, fate);
    used.push(recorder.accesses({ byNamespace: true }));
  }
  const { registry } = new Metrics({ process: false });
  const parts = operator.create(operatorContext(operator, registry));
  const home = `${options.namespace ?? "stage"}-system`;
  const declared = operatorAccess(operator, parts, { home });
  const { superfluous } = compareAccess(declared, used.flat());
  for (const access of superfluous) problems.push(`the role allows what no scenario needs: ${accessText(access)}`);
  let tried = 0;
  for (const access of declared) {
    const player = used.findIndex((accesses) => accesses.some((one) => isUseOf(access, one)));
    if (access.rare || player < 0) continue;
    tried++;
    if (!(await isMissed(scenarios[player]!, access, options))) {
      problems.push(`nobody notices that the role lacks: ${accessText(access)}`);
    }
  }
  return { tried, problems };
}

/** Whether anything goes wrong without a permission: the first refusal is enough, and ends the run. */
async function isMissed(scenario: Scenario, access: Access, options: EmbeddedOptions): Promise<boolean> {
  const refused = Promise.withResolvers<never>();
  refused.promise.catch(() => {});
  const fate: Fate = {
    restrict: (held) => held.filter((one) => accessText(one) !== accessText(access)),
    refused: (message) => refused.reject(new Error(message)),
  };
  try {
    await playEmbedded((stage) => Promise.race([scenario(stage), refused.promise]), options, fate);
    return false;
  } catch {
    return true;
  }
}

/** Whether a use of a permission is one of this one. */
function isUseOf(held: Access, seen: Access): boolean {
  return held.verb === seen.verb && held.group === seen.group && held.resource === seen.resource;
}
