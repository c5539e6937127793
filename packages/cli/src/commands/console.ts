import { existsSync } from "node:fs";
import { basename } from "node:path";
import { loadConfig } from "@konverge/client";
import { Command } from "commander";
import { port } from "../arguments.ts";
import { connectToCluster } from "../cluster-connection.ts";
import { UsageError } from "../usage-error.ts";
import { stopOnSignals } from "./stop-on-signals.ts";

interface ConsoleFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly recording?: string;
  readonly exploration?: string;
  readonly readOnly?: boolean;
  readonly port: number;
}

/** `konverge console` */
export function consoleCommand(fail: (error: unknown) => never): Command {
  return new Command("console")
    .description("show a cluster and its operators, a recording, or findings of the fault explorer in the browser")
    .option("--recording <file>", "show this recording instead of a cluster")
    .option("--exploration <file>", "show the findings in an exploration.json that konverge explore wrote")
    .option("--read-only", "reject every write")
    .option("--port <number>", "port to listen on, on this machine only (default: a free port)", port, 0)
    .option("--kubeconfig <file>", "kubeconfig file (default: $KUBECONFIG or ~/.kube/config)")
    .option("--context <name>", "context of the kubeconfig (default: the current one)")
    .addHelpText(
      "after",
      "\nFor example: npx konverge console --context staging --read-only\n\nPrints a link with a token. The page has the permissions of the kubeconfig's user, and no others.\nEnd it with Ctrl-C.",
    )
    .action(async (flags: ConsoleFlags) => {
      const { startConsole } = await import("@konverge/console");
      const stop = stopOnSignals();
      const shown = shownFile(flags);
      const common = { port: flags.port, readOnly: flags.readOnly ?? false };
      const client = shown ? undefined : await connectToCluster(flags);
      const served = client
        ? await startConsole({
            ...common,
            client,
            title: flags.context ?? new URL((await loadConfig(flags)).server).host,
          })
        : await startConsole({ ...common, ...shown! });
      console.log(`The console is at\n\n  ${served.url}\n\nEnd it with Ctrl-C.`);
      const end = async () => {
        await served.close();
        await client?.close();
        process.exit(0);
      };
      stop.addEventListener("abort", () => void end().catch(fail));
    });
}

/** The file that is shown instead of a cluster. */
function shownFile({ recording, exploration }: ConsoleFlags) {
  if (recording !== undefined && exploration !== undefined) {
    throw new UsageError("--recording and --exploration are two files: name one of them");
  }
  const file = recording ?? exploration;
  if (file === undefined) return undefined;
  if (!existsSync(file)) {
    const writer =
      recording === undefined ? "the exploration.json of konverge explore --results" : "a recording of an operator";
    throw new UsageError(`there is no file ${file}: name ${writer}`);
  }
  return recording === undefined
    ? { exploration: file, title: basename(file) }
    : { recording: file, title: basename(file) };
}
