import { Command } from "commander";
import { positive } from "../arguments.ts";
import type { ClusterChoice } from "../cluster-connection.ts";
import type { MigrationProgress } from "../migrate/migrate-storage.ts";
import { type Output, outputOption } from "../output-option.ts";
import { stopOnSignals } from "./stop-on-signals.ts";

interface MigrateFlags extends ClusterChoice {
  readonly pageSize: number;
  readonly output: Output;
}

/** `konverge migrate-storage` */
export function migrateStorageCommand(): Command {
  return new Command("migrate-storage")
    .description(
      "store all objects of CRDs in their storage version, then remove old versions from status.storedVersions",
    )
    .argument("[crds...]", "names of CRDs (default: all whose objects may be stored in an old version)")
    .option(
      "--page-size <number>",
      "objects that are read at a time; after each page an interrupted run can go on",
      positive,
      500,
    )
    .addOption(outputOption())
    .option("--kubeconfig <file>", "kubeconfig file (default: $KUBECONFIG or ~/.kube/config)")
    .option("--context <name>", "context of the kubeconfig (default: the current one)")
    .addHelpText(
      "after",
      `
Objects are written again as they are. Ctrl-C stops it after the object in progress; the next run goes on there.

For example: npx konverge migrate-storage trainingjobs.ml.example.com`,
    )
    .action(async (crds: string[], { pageSize, output, ...choice }: MigrateFlags) => {
      const { connectToCluster } = await import("../cluster-connection.ts");
      const { migrateStorage } = await import("../migrate/migrate-storage.ts");
      await using client = await connectToCluster(choice);
      const stop = stopOnSignals();
      const results = await migrateStorage(client, { crds, pageSize, stop, progress });
      if (output === "json") console.log(JSON.stringify(results, undefined, 2));
      else if (results.length === 0) console.log("All objects are stored in the storage versions of their CRDs.");
      for (const { crd, version, objects, removed } of output === "json" ? [] : results) {
        const versions = removed.length > 0 ? `, none as ${removed.join(", ")} any more` : "";
        console.log(`${crd}: ${objects} objects written again, stored as ${version}${versions}`);
      }
      if (stop.aborted) {
        console.error("konverge: interrupted: run it again to go on");
        process.exitCode = 130;
      }
    });
}

/** Only a terminal is redrawn. */
function progress({ crd, done, total }: MigrationProgress): void {
  if (!process.stderr.isTTY) return;
  process.stderr.write(`\r\x1b[2K${crd}: ${done}${total === undefined ? "" : ` of ${total}`} objects`);
  if (done === total) process.stderr.write("\n");
}
