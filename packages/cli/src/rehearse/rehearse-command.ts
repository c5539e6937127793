import { loadSnapshot, type Snapshot } from "@konverge/apiserver";
import type { Operator } from "@konverge/runtime";
import { rehearsalJson, rehearsalText, rehearse, writeRehearsal } from "@konverge/testing";
import type { ClusterChoice } from "../cluster-connection.ts";
import { liveClusterRole, readLiveCluster } from "../live/live-cluster.ts";
import { chosenOperators, loadOperators } from "../operators/operator-modules.ts";
import { checkFlags, type OpenArguments, type SettingSources } from "../operators/settings.ts";
import type { Output } from "../output-option.ts";
import { UsageError } from "../usage-error.ts";

/** The options of `konverge rehearse`. */
export interface RehearseCommandOptions {
  /** The module of the new version. Default: the project's. */
  readonly operator?: string;
  /** The module of the version that runs now. */
  readonly against?: string;
  /** Which operator, if a module exports several. */
  readonly name?: string;
  /** A context, or true for the current one. */
  readonly fromContext?: string | true;
  readonly kubeconfig?: string;
  /** A file with a state, in place of a live cluster. */
  readonly state?: string;
  /** How many writes of the new version to crash it at. */
  readonly explore?: number | true;
  readonly results?: string;
  readonly output?: Output;
  readonly printRole?: boolean;
}

/** Where the command writes. */
export interface RehearseWorld {
  /** Settings of the operator that were given as flags. */
  readonly flags: OpenArguments["flags"];
  readonly env: Readonly<Record<string, string | undefined>>;
  print(text: string): void;
  progress(text: string): void;
}

/** Writes at which a crash is tried if none is said. */
const CRASHES = 10;

/** Rehearses and reports; returns the number of findings. */
export async function rehearseFromCommandLine(options: RehearseCommandOptions, world: RehearseWorld): Promise<number> {
  const { fromContext, state, results, output, explore } = options;
  if ((fromContext === undefined) === (state === undefined))
    throw new UsageError("pass either --from-context, to read a live cluster, or --state FILE");
  const operator = await oneOperator(options.operator, options.name);
  const against = options.against === undefined ? undefined : await oneOperator(options.against, options.name);
  const both = against ? [operator, against] : [operator];
  const sources = { flags: checkFlags(both, world.flags, "rehearse"), env: world.env };
  const choice = choiceOf(options);
  if (options.printRole) {
    if (fromContext === undefined) throw new UsageError("--print-role is for --from-context: a file needs no role");
    world.print(await liveClusterRole({ ...choice, operators: both, settings: sources }));
    return 0;
  }
  const rehearsal = await rehearse({
    state:
      state === undefined ? await stateOf({ ...choice, operators: both, settings: sources }, world) : stateIn(state),
    operator,
    ...(against && { against }),
    settings: givenSettings(both, sources),
    crashes: explore === true ? CRASHES : (explore ?? 0),
    onProgress: (what) => world.progress(what),
  });
  world.print(output === "json" ? rehearsalJson(rehearsal) : rehearsalText(rehearsal));
  if (results !== undefined) for (const file of writeRehearsal(rehearsal, results)) world.progress(`wrote ${file}`);
  return rehearsal.findings.length;
}

/** Only what was said: a default of the new version may be what changes. */
function givenSettings(operators: readonly Operator[], { flags, env }: SettingSources): Record<string, string> {
  const given = operators.flatMap(({ settings = [] }) =>
    settings.map(({ flag, env: variable }) => [flag, flags.get(flag) ?? (variable && env[variable])] as const),
  );
  return Object.fromEntries(given.filter((one): one is readonly [string, string] => one[1] !== undefined));
}

function choiceOf({ fromContext, kubeconfig }: RehearseCommandOptions): ClusterChoice {
  return {
    ...(typeof fromContext === "string" && { context: fromContext }),
    ...(kubeconfig !== undefined && { kubeconfig }),
  };
}

async function stateOf(source: Parameters<typeof readLiveCluster>[0], world: RehearseWorld): Promise<Snapshot> {
  const { state, objects, requests } = await readLiveCluster(source);
  const count = Object.values(objects).reduce((sum, one) => sum + one, 0);
  world.progress(`read ${count} objects with ${requests} requests; values of Secrets are replaced`);
  return state;
}

function stateIn(file: string): Snapshot {
  try {
    return loadSnapshot(file);
  } catch (error) {
    throw new UsageError(`--state ${file} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

async function oneOperator(module: string | undefined, name: string | undefined): Promise<Operator> {
  const all = await loadOperators(module === undefined ? [] : [module]);
  const operators = name === undefined ? all : chosenOperators(all, name);
  const [operator, ...more] = operators;
  if (operator && more.length === 0) return operator;
  const names = all.map((one) => one.name).join(", ");
  throw new UsageError(`${module ?? "this project"} has several operators: choose one by --name: ${names}`);
}
