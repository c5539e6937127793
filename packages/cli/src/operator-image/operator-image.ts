import { join } from "node:path";
import { inClusterConfig } from "@konverge/client";
import type { Program } from "@konverge/cluster";
import type { Clock } from "@konverge/core";
import type { Operator } from "@konverge/runtime";
import { Command, CommanderError } from "commander";
import { runCommand } from "../commands/run.ts";
import { installedOperators, loadOperators } from "../run/operator-modules.ts";

/** Where a pod has the identity it acts with. */
const ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

/** The image that operators' Deployments run, in any version. */
export const OPERATOR_IMAGE = "konverge/operators";

/**
 * The image of operators as a program in this process: `konverge` with the container's args, environment and service
 * account. It reaches the cluster by its port, as any pod would, and may do what its role allows.
 */
export function operatorProgram(clock: Clock, operators = knownOperators): Program {
  return async (container) => {
    const { env, args, write, stop, expose } = container;
    const config = await inClusterConfig(env, join(await container.folder(), ACCOUNT));
    const world = { env, stop, write, clock, config, expose: exposed(expose), operators };
    const command = new Command("konverge").addCommand(runCommand(() => world));
    const output = { writeOut: write, writeErr: write };
    for (const one of [command, ...command.commands]) one.exitOverride().configureOutput(output);
    try {
      await command.parseAsync([...args], { from: "user" });
      return 0;
    } catch (error) {
      if (error instanceof CommanderError) return error.exitCode;
      write(`konverge: ${error instanceof Error ? error.message : String(error)}\n`);
      return 1;
    }
  };
}

const exposed = (expose: (port: number, address: { port: number }) => void) => (port: number, local: number) =>
  expose(port, { port: local });

/** Those of the project that the cluster was started in, and Konverge's own. */
export async function knownOperators(): Promise<readonly Operator[]> {
  const own = await loadOperators([]);
  const others = await installedOperators();
  return [...own, ...others.filter(({ name }) => !own.some((one) => one.name === name))];
}
