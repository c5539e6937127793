import {
  checkRole,
  exploreRole,
  InClusterError,
  type LearnRoleOptions,
  learnedRoleText,
  learnRole,
  type RunWithoutRule,
  readShippedRole,
  roleCheckLines,
  ScenarioFailed,
  type ServiceAccountName,
  ShippedRoleError,
} from "@konverge/testing";
import { scenarioIn } from "../explore/scenario-in.ts";
import type { Output } from "../output-option.ts";
import { UsageError } from "../usage-error.ts";

/** The options of `konverge rbac learn`; times are milliseconds. */
export interface LearnCommandOptions {
  readonly command: string;
  readonly scenario: readonly string[];
  readonly inCluster?: boolean;
  readonly idleAfter?: number;
  readonly idleTimeout?: number;
  readonly name?: string;
  readonly output?: Output;
}

/** The options of `konverge rbac check`. */
export interface CheckCommandOptions extends LearnCommandOptions {
  readonly role: readonly string[];
  readonly serviceAccount?: string;
  readonly eachRule?: boolean;
  readonly allowUnused?: boolean;
}

/** Where the commands write. */
export interface RbacWorld {
  print(text: string): void;
  progress(text: string): void;
}

/** Prints the role that a program needs. */
export async function learnFromCommandLine(options: LearnCommandOptions, world: RbacWorld): Promise<void> {
  const learned = await asUsage(() => learnRole(learnOptions(options, world)));
  const { runs, suffices } = learned;
  if (options.output === "json") world.print(JSON.stringify(learned, undefined, 2));
  else world.print(learnedRoleText(learned));
  world.progress(
    suffices
      ? `${runs} runs; under this role nothing was refused`
      : `${runs} runs; the role did not suffice in the last one: what the operator does differs from run to run`,
  );
}

/** Compares, prints, and returns how many problems there are. */
export async function checkFromCommandLine(options: CheckCommandOptions, world: RbacWorld): Promise<number> {
  const { role, serviceAccount, eachRule, allowUnused, output } = options;
  return asUsage(async () => {
    const settings = learnOptions(options, world);
    const shipped = readShippedRole(role, settings.scenarios[0]!.namespace, accountNamed(serviceAccount));
    const check = await checkRole(shipped, settings);
    const lines = roleCheckLines(check);
    if (output !== "json") for (const line of lines) world.print(line);
    const without: RunWithoutRule[] = [];
    if (eachRule) {
      without.push(
        ...(await exploreRole(check.learned, settings, (result) => {
          if (output !== "json")
            world.print(`without ${result.without.join(", ")}: ${result.outcome}: ${result.message}`);
        })),
      );
    }
    if (output === "json") {
      const underRole = check.underRole.map((run) => ({ ...run, refused: Object.fromEntries(run.refused) }));
      world.print(JSON.stringify({ ...check, underRole, without }, undefined, 2));
    }
    const { missing, unused, underRole } = check;
    const refused = underRole.filter((run) => run.refused.size > 0 || run.failure !== undefined).length;
    const wide = new Set(unused.map(({ place }) => place)).size;
    world.progress(
      `${missing.length} permissions are missing, ${wide} of ${shipped.rules.length} rules grant more than is used`,
    );
    return missing.length + refused + (allowUnused ? 0 : wide);
  });
}

function learnOptions(options: LearnCommandOptions, { progress }: RbacWorld): LearnRoleOptions {
  const { command, scenario, inCluster, idleAfter, idleTimeout, name } = options;
  return {
    command,
    scenarios: scenario.map(scenarioIn),
    ...(inCluster && { inCluster }),
    ...(idleAfter !== undefined && { idleAfter }),
    ...(idleTimeout !== undefined && { idleTimeout }),
    ...(name !== undefined && { name }),
    onRun: progress,
  };
}

function accountNamed(text: string | undefined): ServiceAccountName | undefined {
  if (text === undefined) return undefined;
  const [namespace, name, ...rest] = text.split("/");
  if (!namespace || !name || rest.length > 0)
    throw new UsageError(`--service-account ${text}: it must be NAMESPACE/NAME`);
  return { namespace, name };
}

async function asUsage<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof ShippedRoleError || error instanceof ScenarioFailed || error instanceof InClusterError)
      throw new UsageError(error.message, { cause: error });
    throw error;
  }
}
