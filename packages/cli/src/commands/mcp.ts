import { Command } from "commander";
import { stopOnSignals, stopWithNpm } from "./stop-on-signals.ts";

interface McpFlags {
  readonly allowWrites?: boolean;
  readonly kubeconfig?: string;
  readonly context?: string;
}

/** `konverge mcp` */
export function mcpCommand(version: string): Command {
  return new Command("mcp")
    .description("serve tools for coding agents by the Model Context Protocol, on standard input and output")
    .option("--allow-writes", "add tools that start clusters, write objects and run the explorer (default: read-only)")
    .option("--kubeconfig <file>", "kubeconfig file (default: $KUBECONFIG or ~/.kube/config)")
    .option("--context <name>", "context of the kubeconfig (default: the current one)")
    .addHelpText(
      "after",
      `
For example: npx konverge mcp --context staging

In the configuration of an agent: { "command": "npx", "args": ["konverge", "mcp"] }
Tools have the permissions of the kubeconfig's user, and no others. Values of Secrets are hidden.`,
    )
    .action(async ({ allowWrites = false, ...choice }: McpFlags) => {
      const { serveMcp } = await import("../mcp/serve.ts");
      const { findProject } = await import("../init/project.ts");
      const folder = findProject(process.cwd())?.folder ?? process.cwd();
      await serveMcp({ ...choice, allowWrites, folder, version }, AbortSignal.any([stopOnSignals(), stopWithNpm()]));
      process.exit(0);
    });
}
