import { Command } from "commander";
import { confirm } from "./confirm.ts";

interface CleanupOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly yes?: boolean;
}

/** `konverge cleanup`. */
export function cleanupCommand(): Command {
  return new Command("cleanup")
    .description("remove webhooks that a killed `konverge run` on this machine left registered")
    .option("--yes", "do not ask for confirmation")
    .option("--kubeconfig <file>", "kubeconfig file (default: $KUBECONFIG or ~/.kube/config)")
    .option("--context <name>", "context of the kubeconfig (default: the current one)")
    .addHelpText("after", "\nFor example, in a script: npx konverge cleanup --yes")
    .action(async ({ yes, ...choice }: CleanupOptions) => {
      const { connectToCluster } = await import("../cluster-connection.ts");
      const runs = await import("../run/run-registrations.ts");
      await using client = await connectToCluster(choice);
      const all = await runs.registeredByRuns(client);
      const abandoned = all.filter(runs.isAbandoned);
      for (const one of all.filter((one) => !abandoned.includes(one))) {
        console.log(`${runs.described([one])} stays: its process ${one.mark.pid} on ${one.mark.host} may still run`);
      }
      if (abandoned.length === 0) return console.log("there is nothing to remove");
      console.log(`left behind by ended runs: ${runs.described(abandoned)}`);
      if (!yes && !process.stdin.isTTY) return console.log("nothing was removed: --yes removes it");
      if (!yes && !(await confirm("Remove them? Type yes: "))) return;
      await runs.removeRegistrations(abandoned, client, { tell: (text) => console.log(text) });
    });
}
