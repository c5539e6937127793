import { Command } from "commander";
import type { JoinOptions } from "../node/nodes.ts";
import { type Output, outputOption } from "../output-option.ts";

/** `konverge node join`, `remove` and `list`. */
export function nodeCommand(): Command {
  const join = new Command("join")
    .description("start a real node on this machine that joins a running cluster; only on Linux, as root")
    .option("--name <name>", "the cluster, which was started with --real-nodes", "konverge")
    .option("--node <name>", "name of the Node (default: linux-N, with the first free number)")
    .option("--server <url>", "address at which nodes reach the cluster, instead of its name")
    .option("--token <token>", "a bootstrap token of that cluster, with --server")
    .option("--kubelet <file>", "the kubelet (default: the one that is found)")
    .option("--kube-proxy <file>", "the kube-proxy (default: the one that is found)")
    .option("--oci-runtime <file>", "the OCI runtime that starts its containers (default: runc or crun)")
    .addHelpText(
      "after",
      "\nFor example: sudo npx konverge node join\n             sudo npx konverge node join --node large",
    )
    .action(async (options: JoinOptions) => {
      const { joinNode } = await import("../node/nodes.ts");
      const { name, address, folder } = await joinNode(options);
      console.log(`node ${name} is ready at ${address}; its logs are in ${folder}/log`);
    });
  const remove = new Command("remove")
    .description("remove a real node from its cluster and from this machine, with its containers and volumes")
    .argument("<node>", "the name of the Node")
    .option("--name <name>", "the cluster", "konverge")
    .addHelpText("after", "\nFor example: sudo npx konverge node remove linux-2")
    .action(async (node: string, { name }: { name: string }) => {
      const { removeNode } = await import("../node/nodes.ts");
      await removeNode(name, node);
      console.log(`node ${node} is removed`);
    });
  const list = new Command("list")
    .description("list the real nodes on this machine")
    .addOption(outputOption())
    .addHelpText("after", "\nFor example: npx konverge node list\n             npx konverge node list --output json")
    .action(async ({ output }: { output: Output }) => {
      const { listNodes } = await import("../node/nodes.ts");
      const nodes = listNodes();
      if (output === "json") return console.log(JSON.stringify(nodes, undefined, 2));
      const lines = nodes.map(({ cluster, name, address, pid, folder }) =>
        [cluster, name, address, pid === undefined ? "not running" : `process ${pid}`, folder].join("\t"),
      );
      console.log(lines.length > 0 ? lines.join("\n") : "there are no real nodes on this machine");
    });
  return new Command("node")
    .description("real nodes on this machine")
    .addCommand(join)
    .addCommand(remove)
    .addCommand(list);
}
