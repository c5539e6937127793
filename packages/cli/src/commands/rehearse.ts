import { Command } from "commander";
import { positive } from "../arguments.ts";
import { openArguments } from "../operators/settings.ts";
import { outputOption } from "../output-option.ts";
import type { RehearseCommandOptions } from "../rehearse/rehearse-command.ts";
import { UsageError } from "../usage-error.ts";

/** `konverge rehearse` */
export function rehearseCommand(): Command {
  return new Command("rehearse")
    .description("run the next version of an operator on the state of a live cluster, and report what it does there")
    .option("--operator <module>", "module that exports the new version (default: that of this project)")
    .option("--against <module>", "module that exports the version that runs now: what it does, too, is not reported")
    .option("--name <name>", "which operator, if a module exports several")
    .option("--from-context [name]", "read the cluster of this context, or of the current one; it is only listed")
    .option("--kubeconfig <file>", "kubeconfig file (default: $KUBECONFIG or ~/.kube/config)")
    .option("--state <file>", "file that `konverge snapshot` wrote, in place of a live cluster")
    .option("--explore [number]", "crash the new version at this many of its first writes (default: 10)", positive)
    .option("--print-role", "print the role that suffices to read the cluster, and end")
    .option("--results <folder>", "write rehearsal.json, junit.xml and rehearsal.html there")
    .addOption(outputOption())
    .allowUnknownOption()
    .allowExcessArguments()
    .addHelpText("after", EXAMPLES)
    .action(async (options: RehearseCommandOptions, { args }: Command) => {
      const { modules, flags } = openArguments(args);
      if (modules.length > 0) throw new UsageError(`unexpected ${modules[0]}: the new version is --operator MODULE`);
      const { rehearseFromCommandLine } = await import("../rehearse/rehearse-command.ts");
      const world = {
        flags,
        env: process.env,
        print: (text: string) => process.stdout.write(text.endsWith("\n") ? text : `${text}\n`),
        progress: (text: string) => console.error(text),
      };
      if ((await rehearseFromCommandLine(options, world)) > 0) process.exitCode = 1;
    });
}

const EXAMPLES = `
The objects that the operator works on are copied into an embedded cluster as they are, with what they own and refer to, and
values of Secrets replaced by placeholders. There the versions run on virtual time, one after the other, each on a separate copy.
Nothing is written to the live cluster. Settings of operators are options, too, as for \`konverge run\`.
Exits with 1 if something was found.

Examples:
  npx konverge rehearse --from-context prod --operator src/operator.ts --against ../released/src/operator.ts
  npx konverge rehearse --from-context prod --print-role | kubectl apply -f -
  npx konverge rehearse --state prod.snapshot --explore --results rehearsal`;
