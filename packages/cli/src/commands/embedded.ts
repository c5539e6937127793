import { realClock } from "@konverge/core";
import { Command, Option } from "commander";
import { whole } from "../arguments.ts";
import { loadOperators } from "../operators/operator-modules.ts";
import { type Output, outputOption } from "../output-option.ts";
import { UsageError } from "../usage-error.ts";

const NAME = "the cluster (default: konverge, or the only one that runs)";
/** As kubectl prints what it does not know. */
const UNKNOWN = "<unknown>";

/** `konverge status`, `get`, `snapshot` and `restore`: for clusters that `konverge up` started on this machine. */
export function embeddedCommands(): Command[] {
  return [statusCommand(), getCommand(), snapshotCommand(), restoreCommand()];
}

function statusCommand(): Command {
  return new Command("status")
    .description("list the embedded clusters that run on this machine, with their nodes and pods")
    .option("--name <name>", "only this cluster")
    .addOption(outputOption())
    .addHelpText(
      "after",
      "\nFor example: npx konverge status\n             npx konverge status --output json\n\nExits with 1 if none runs, or if one cannot be read.",
    )
    .action(async ({ name, output }: { name?: string; output: Output }) => {
      const { runningCluster, runningClusters, statusOf } = await import("../embedded/running-cluster.ts");
      const clusters = name === undefined ? await runningClusters() : [await runningCluster(name)];
      const found = await Promise.all(clusters.map(statusOf));
      if (output === "json") console.log(JSON.stringify(found, undefined, 2));
      else if (found.length === 0) console.log("No cluster runs. Start one with: npx konverge up");
      else {
        const { tableText } = await import("../embedded/table-text.ts");
        const rows = found.map(({ name: own, version = UNKNOWN, nodes, pods, url, pid }) => [
          own,
          version,
          nodes ? `${nodes.ready}/${nodes.all}` : UNKNOWN,
          pods ? `${pods.running}/${pods.all}` : UNKNOWN,
          pid,
          url,
        ]);
        console.log(tableText(["name", "version", "nodes", "pods", "pid", "url"], rows));
      }
      for (const { name: own, error } of found) if (error) console.error(`konverge: cluster ${own}: ${error}`);
      if (found.length === 0 || found.some(({ error }) => error)) process.exitCode = 1;
    });
}

interface GetFlags {
  readonly name?: string;
  readonly namespace: string;
  readonly allNamespaces?: boolean;
  readonly output: Output;
}

function getCommand(): Command {
  return new Command("get")
    .description("list objects of an embedded cluster, or show one, without kubectl")
    .argument("<resource>", "kind, plural or short name, such as pods or deploy")
    .argument("[object]", "name of one object")
    .option("--name <name>", NAME)
    .option("--namespace <name>", "namespace", "default")
    .option("--all-namespaces", "objects of all namespaces")
    .addOption(outputOption())
    .addHelpText(
      "after",
      "\nFor example: npx konverge get pods --all-namespaces\n             npx konverge get trainingjob llama --output json",
    )
    .action(
      async (resource: string, object: string | undefined, { name, namespace, allNamespaces, output }: GetFlags) => {
        const { clientOf, runningCluster } = await import("../embedded/running-cluster.ts");
        const { getText } = await import("../embedded/get-objects.ts");
        await using client = await clientOf(await runningCluster(name));
        console.log(
          await getText(client, { resource, output, ...(object && { object }), ...(!allNamespaces && { namespace }) }),
        );
      },
    );
}

interface SnapshotFlags {
  readonly name?: string;
  readonly fromContext?: string | true;
  readonly kubeconfig?: string;
  readonly operator?: readonly string[];
  readonly printRole?: boolean;
}

function snapshotCommand(): Command {
  return new Command("snapshot")
    .description("save the state of a running embedded cluster, or what operators work on in any cluster, to a file")
    .argument("<file>", "file to write; an existing one is replaced")
    .option("--name <name>", NAME)
    .option(
      "--from-context [name]",
      "read the cluster of this context of the kubeconfig, or of the current one; it is only listed",
    )
    .option("--kubeconfig <file>", "with --from-context: kubeconfig file (default: $KUBECONFIG or ~/.kube/config)")
    .option(
      "--operator <modules...>",
      "with --from-context: only what the operators in these modules work on (default: everything)",
    )
    .option("--print-role", "with --from-context: print the role that suffices to read the cluster, and write no file")
    .addHelpText(
      "after",
      `
Of an embedded cluster, everything is saved, Secrets included. With --from-context, values of Secrets are replaced by
placeholders of the same shape, wherever the cluster repeats them.

For example: npx konverge snapshot before.snapshot
             npx konverge restore before.snapshot --name again
             npx konverge snapshot prod.snapshot --from-context prod --operator src/operator.ts`,
    )
    .action(async (file: string, { fromContext, ...flags }: SnapshotFlags) => {
      if (fromContext !== undefined) return liveSnapshot(file, fromContext, flags);
      const unused = Object.keys(flags).find((flag) => flag !== "name");
      if (unused) throw new UsageError("--kubeconfig, --operator and --print-role are for --from-context");
      const { runningCluster } = await import("../embedded/running-cluster.ts");
      const { snapshot } = await import("../embedded/snapshot.ts");
      const cluster = await runningCluster(flags.name);
      await snapshot(cluster, file, realClock());
      console.log(`${file} has the state of cluster ${cluster.name}`);
    });
}

async function liveSnapshot(file: string, context: string | true, flags: SnapshotFlags): Promise<void> {
  const { name, kubeconfig, operator, printRole } = flags;
  if (name !== undefined) throw new UsageError("pass either --name or --from-context");
  const { liveClusterRole, saveLiveCluster } = await import("../live/live-cluster.ts");
  const source = {
    ...(context !== true && { context }),
    ...(kubeconfig !== undefined && { kubeconfig }),
    operators: operator ? await loadOperators(operator) : [],
    settings: { flags: new Map<string, string>(), env: process.env },
  };
  if (printRole) process.stdout.write(await liveClusterRole(source));
  else for (const line of await saveLiveCluster(source, file)) console.log(line);
}

interface RestoreFlags {
  readonly name: string;
  readonly kubeconfig?: string;
  readonly data?: string;
  readonly nodes?: number;
  readonly gpus?: string;
  readonly output: Output;
}

function restoreCommand(): Command {
  return new Command("restore")
    .description("start an embedded cluster in the background with the state of a snapshot")
    .argument("<file>", "file that `konverge snapshot` wrote")
    .addOption(new Option("--name <name>", "name of the new cluster and of its context").default("konverge"))
    .option("--kubeconfig <file>", "write the context to this file (default: your kubeconfig)")
    .option(
      "--data <folder>",
      "keep the cluster's state in this folder, in place of what is there (default: in memory)",
    )
    .option(
      "--nodes <number>",
      "number of simulated nodes without GPUs, as the cluster had (default: as konverge up)",
      whole,
    )
    .option("--gpus <list>", "simulated nodes with GPUs, as the cluster had (default: as konverge up)")
    .addOption(outputOption("when it is ready"))
    .addHelpText(
      "after",
      "\nFor example: npx konverge restore before.snapshot --name again\nSeveral clusters run side by side if they have different names.",
    )
    .action(async (file: string, { name, output, ...options }: RestoreFlags) => {
      const { upInBackground } = await import("../up/background.ts");
      const { summary } = await import("../up/summary.ts");
      const given = Object.entries(options).flatMap(([flag, value]) => [`--${flag}`, String(value)]);
      const cluster = await upInBackground(name, ["--name", name, "--snapshot", file, ...given]);
      console.log(output === "json" ? JSON.stringify(cluster) : summary(cluster, true));
    });
}
