import { Command } from "commander";
import { chosenOperators } from "../operators/operator-modules.ts";
import { checkFlags, openArguments } from "../operators/settings.ts";
import { addPodOptions, runCommand } from "../run/run-command.ts";
import type { PodRunOptions } from "../run/run-operators.ts";
import { UsageError } from "../usage-error.ts";
import type { OperatorCatalog } from "./catalog.ts";

/** What a pod of the image of operators asks for, checked. */
export interface PodRequest {
  /** Modules of the catalog. */
  readonly modules: readonly string[];
  /** Operators of the catalog, by their full names. */
  readonly operators: readonly string[];
  /** Settings of these operators that are given as flags. */
  readonly settings: Readonly<Record<string, string>>;
  /** The variables that `konverge run` reads, and those of settings. */
  readonly env: Readonly<Record<string, string>>;
  readonly options: Omit<PodRunOptions, "operators">;
}

/** The variables that `konverge run` reads in a pod. */
const VARIABLES = ["LOG_LEVEL", "POD_NAME", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"];

/**
 * Reads the args and the environment of a container as `konverge run` would, of which it takes what operators' Deployments
 * use: names of operators in the catalog, their settings, and the options that say nothing about the machine. Everything
 * else in the args is refused, everything else in the environment left out. `write` takes the parser's own messages.
 */
export function podRequest(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  catalog: OperatorCatalog,
  write: (text: string) => void,
): PodRequest {
  const run = addPodOptions(new Command("run"))
    .argument("[words...]")
    .action(() => {});
  const konverge = new Command("konverge").addCommand(run);
  for (const one of [konverge, run]) one.exitOverride().configureOutput({ writeOut: write, writeErr: write });
  konverge.parse([...args], { from: "user" });
  const { operators: names, ...options } = run.opts<PodRunOptions>();
  const { modules, flags } = openArguments(run.args);
  if (modules.length > 0) {
    throw new UsageError(
      `a pod of an embedded cluster cannot name a module (${modules.join(" ")}): it runs operators that the cluster was started with, by name: --operators=NAME`,
    );
  }
  for (const { long } of runCommand(never).options) {
    if (long && flags.has(long.slice(2))) {
      throw new UsageError(
        `${long} affects the machine that konverge runs on: a pod of an embedded cluster cannot set it`,
      );
    }
  }
  const chosen = chosenOperators(catalog.operators, names ?? env["OPERATORS"]);
  if (chosen.length === 0)
    throw new UsageError("no operator to run: set --operators to all, or to a comma-separated list of names");
  const settings = checkFlags(chosen, flags);
  const variables = [...VARIABLES, ...chosen.flatMap((one) => one.settings.flatMap((setting) => setting.env ?? []))];
  return {
    modules: [...new Set(chosen.map(({ module }) => module))],
    operators: chosen.map(({ name }) => name),
    settings: Object.fromEntries(settings),
    env: Object.fromEntries(variables.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]))),
    options,
  };
}

function never(): never {
  throw new Error("only its options are read");
}
