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
  readonly readOnly?: boolean;
  readonly port: number;
}

/** `konverge console` */
export function consoleCommand(fail: (error: unknown) => never): Command {
  return new Command("console")
    .description("show a cluster and its operators, or a recording, in the browser")
    .option("--recording <file>", "show this recording instead of a cluster")
    .option("--read-only", "refuse everything that writes")
    .option("--port <number>", "port to listen on, on this machine only; default: a free port", port, 0)
    .option("--kubeconfig <file>", "kubeconfig to use; default: $KUBECONFIG, then ~/.kube/config")
    .option("--context <name>", "context of the kubeconfig; default: the current one")
    .addHelpText(
      "after",
      "\nFor example: npx konverge console --context staging --read-only\n\nPrints a link with a token. The page has the permissions of the kubeconfig's user, and no others.\nEnd it with Ctrl-C.",
    )
    .action(async (flags: ConsoleFlags) => {
      const { startConsole } = await import("@konverge/console");
      const stop = stopOnSignals();
      const { recording, readOnly = false } = flags;
      const common = { port: flags.port, readOnly };
      if (recording !== undefined && !existsSync(recording)) {
        throw new UsageError(`there is no file ${recording}: name a recording that an operator has written`);
      }
      const client = recording === undefined ? await connectToCluster(flags) : undefined;
      const served = client
        ? await startConsole({
            ...common,
            client,
            title: flags.context ?? new URL((await loadConfig(flags)).server).host,
          })
        : await startConsole({ ...common, recording: recording!, title: basename(recording!) });
      console.log(`The console is at\n\n  ${served.url}\n\nEnd it with Ctrl-C.`);
      const end = async () => {
        await served.close();
        await client?.close();
        process.exit(0);
      };
      stop.addEventListener("abort", () => void end().catch(fail));
    });
}
