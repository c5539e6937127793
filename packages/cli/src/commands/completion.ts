import { Argument, Command } from "commander";
import { completionScript, SHELLS, type Shell } from "../completion/completion.ts";

/** `konverge completion` */
export function completionCommand(): Command {
  return new Command("completion")
    .description("print a script that completes the command's words in a shell")
    .addArgument(new Argument("<shell>", "bash, zsh or fish").choices(SHELLS))
    .addHelpText(
      "after",
      "\nFor example: source <(konverge completion bash)\n             source <(konverge completion zsh)\n             konverge completion fish | source",
    )
    .action((shell: Shell, _options: object, self: Command) => {
      process.stdout.write(completionScript(self.parent!, shell));
    });
}
