import { Command } from "commander";
import { milliseconds } from "../arguments.ts";
import { outputOption } from "../output-option.ts";
import type { CheckCommandOptions, LearnCommandOptions } from "../rbac/rbac-command.ts";

/** `konverge rbac`. */
export function rbacCommand(): Command {
  return new Command("rbac")
    .description(
      "the permissions that an operator in any language needs, and those of the role that it is published with",
    )
    .addCommand(learnCommand())
    .addCommand(checkCommand());
}

function learnCommand(): Command {
  return program(new Command("learn"))
    .description(
      "print the least role with which an operator can do what it does in a scenario, with the request behind each rule",
    )
    .option("--name <name>", "name of the roles, and of the service account that they are bound to", "learned")
    .addHelpText("after", LEARN)
    .action(async (options: LearnCommandOptions) => {
      const { learnFromCommandLine } = await import("../rbac/rbac-command.ts");
      await learnFromCommandLine(options, world());
    });
}

function checkCommand(): Command {
  return program(new Command("check"))
    .description("compare the role that an operator is published with with what it does in a scenario")
    .requiredOption("--role <file...>", "YAML files with its roles and bindings; other objects in them are skipped")
    .option("--service-account <name>", "NAMESPACE/NAME of its account (default: the one that the roles are bound to)")
    .option("--each-rule", "also play the scenario without each rule that is needed (default: false)")
    .option("--allow-unused", "what is not needed is printed, but does not count (default: false)")
    .addHelpText("after", CHECK)
    .action(async (options: CheckCommandOptions) => {
      const { checkFromCommandLine } = await import("../rbac/rbac-command.ts");
      if ((await checkFromCommandLine(options, world())) > 0) process.exitCode = 1;
    });
}

function program(command: Command): Command {
  return command
    .requiredOption("--command <command>", "shell command that starts the operator, which reads $KUBECONFIG")
    .requiredOption(
      "--scenario <file...>",
      "YAML files with the steps of scenarios: all permissions that any of them needs count",
    )
    .option("--in-cluster", "the operator finds the files and variables of a pod instead of $KUBECONFIG: Linux only")
    .option(
      "--idle-after <duration>",
      "the operator is idle when it has sent nothing for this time (default: 2s)",
      milliseconds,
    )
    .option("--idle-timeout <duration>", "fail if the operator is not idle after this time (default: 1m)", milliseconds)
    .addOption(outputOption());
}

const world = () => ({
  print: (text: string) => console.log(text.trimEnd()),
  progress: (text: string) => console.error(text),
});

const LEARN = `
The scenario is played on an embedded cluster, with the operator as a process behind a proxy: first with all permissions, then
under the role that follows, until nothing is refused. If the operator lists or watches over all namespaces, the scenario's
namespace stands for every one. A permission that only an error needs is learned if the scenario has that error.

Examples:
  konverge rbac learn --command './manager --leader-elect=false' --scenario story.yaml
  konverge rbac learn --command ./controller --in-cluster --scenario create.yaml delete.yaml --name widgets > role.yaml`;

const CHECK = `
Too narrow: a request of the operator that the role does not allow. Too wide: a rule, or a part of one, that no request needed.
Then the scenario is played under the role. With --each-rule, it is also played under the least role without each of its rules,
to see what the operator does when that permission is missing. Exits with 1 if the role is too narrow or too wide.

Examples:
  konverge rbac check --command ./manager --scenario story.yaml --role config/rbac/role.yaml
  konverge rbac check --command ./manager --scenario story.yaml --role rbac.yaml --each-rule --allow-unused`;
