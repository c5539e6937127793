import { Command } from "commander";
import { loadOperators } from "../operators/operator-modules.ts";
import { checkFlags, openArguments } from "../operators/settings.ts";
import { outputOption } from "../output-option.ts";
import type { ReplayOptions } from "../replay/replay-recording.ts";

/** `konverge replay` */
export function replayCommand(): Command {
  return new Command("replay")
    .description("show what operators would now do differently in recorded reconciles")
    .argument("<file>", "recording written by `konverge run --record` or `recorder`: JSON lines")
    .option("--operator <modules...>", "modules that export operators (default: those of this project)")
    .option("--controller <name>", "only reconciles of this controller")
    .option("--object <key>", "only reconciles of this object: NAMESPACE/NAME, or NAME")
    .option("--all", "also show reconciles with the same result")
    .addOption(outputOption())
    .allowUnknownOption()
    .addHelpText(
      "after",
      "\nFor example: npx konverge replay run.jsonl --object default/llama\n" +
        "Settings of operators are options too, as for `konverge run`: pass those that it ran with.\n" +
        "Nothing is sent to any cluster. With --output json, each reconcile is a line. Exits with 1 if there is a difference.",
    )
    .action(async (file: string, given: ReplayOptions & { operator?: string[] }, { args }: Command) => {
      const { operator = [], ...options } = given;
      const { replayFile } = await import("../replay/replay-recording.ts");
      const operators = await loadOperators(operator);
      const flags = checkFlags(operators, openArguments(args.slice(1)).flags);
      const world = { flags, env: process.env, tell: (line: string) => console.log(line) };
      const { different } = await replayFile(file, operators, options, world);
      if (different > 0) process.exitCode = 1;
    });
}
