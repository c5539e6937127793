import { Command } from "commander";
import type { ReplayOptions } from "../replay/replay-recording.ts";
import { loadOperators } from "../run/operator-modules.ts";

/** `konverge replay` */
export function replayCommand(): Command {
  return new Command("replay")
    .description("show what operators would now do differently in reconciles that were recorded")
    .argument("<file>", "what `recorder` wrote: a file of lines of JSON")
    .option("--operator <modules...>", "modules that export operators; without any, those of this project")
    .option("--controller <name>", "only reconciles of this controller")
    .option("--object <key>", "only reconciles of this object: NAMESPACE/NAME, or NAME")
    .option("--all", "also show reconciles that come out the same")
    .option("--json", "a line of JSON for each reconcile instead of text")
    .addHelpText("after", "\nNothing is sent to any cluster. Exits with 1 if something would be done differently.")
    .action(async (file: string, { operator = [], ...options }: ReplayOptions & { operator?: string[] }) => {
      const { replayRecording } = await import("../replay/replay-recording.ts");
      const operators = await loadOperators(operator);
      const { different } = await replayRecording(file, operators, options, (line) => console.log(line));
      if (different > 0) process.exitCode = 1;
    });
}
