import { existsSync } from "node:fs";
import { basename } from "node:path";
import { Command } from "commander";
import { port } from "../arguments.ts";
import { listening } from "../listening.ts";
import { UsageError } from "../usage-error.ts";
import { stopOnSignals, stopWithNpm } from "./stop-on-signals.ts";

interface ConsoleFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly recording?: string;
  readonly exploration?: string;
  readonly results?: readonly string[];
  readonly readOnly?: boolean;
  readonly port: number;
}

/** `konverge console` */
export function consoleCommand(fail: (error: unknown) => never): Command {
  return new Command("console")
    .description(
      "show a cluster and its operators, a recording, findings of the fault explorer, or results of benchmarks in the browser",
    )
    .option("--recording <file>", "show this recording instead of a cluster")
    .option("--exploration <file>", "show the findings in an exploration.json that konverge explore wrote")
    .option("--results <path...>", "plot results of benchmarks: Markdown files with tables, or folders of them")
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
      const { loadConfig } = await import("@konverge/client");
      const { connectToCluster } = await import("../cluster-connection.ts");
      const stop = AbortSignal.any([stopOnSignals(), stopWithNpm()]);
      const shown = shownFile(flags);
      const common = { port: flags.port, readOnly: flags.readOnly ?? false };
      const client = shown ? undefined : await connectToCluster(flags);
      const given = client
        ? { ...common, client, title: flags.context ?? new URL((await loadConfig(flags)).server).host }
        : { ...common, ...shown! };
      const served = await listening(() => startConsole(given), flags.port, "--port");
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
function shownFile({ recording, exploration, results }: ConsoleFlags) {
  const given = { recording, exploration, results };
  const names = Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`]));
  if (names.length === 0) return undefined;
  if (names.length > 1) throw new UsageError(`${names.join(" and ")}: the console shows one of them, name one`);
  const files = [recording, exploration, ...(results ?? [])].filter((file) => file !== undefined);
  const missing = files.find((file) => !existsSync(file));
  if (missing !== undefined) throw new UsageError(`there is no file ${missing}: name ${WRITERS[names[0]!]}`);
  const title = files.map((file) => basename(file)).join(", ");
  if (recording !== undefined) return { recording, title };
  return exploration === undefined ? { results: results!, title } : { exploration, title };
}

/** What the option names. */
const WRITERS: Readonly<Record<string, string>> = {
  "--recording": "a recording of an operator",
  "--exploration": "the exploration.json of konverge explore --results",
  "--results": "a Markdown file that a benchmark wrote, or a folder of them",
};
