import { z } from "@konverge/schema";
import { McpServer } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import type { ClusterChoice } from "../cluster-connection.ts";
import { readingTools, writingTools } from "./cluster-tools.ts";
import { Connection } from "./connection.ts";
import { explainingTool, exploringTool } from "./explorer-tools.ts";
import type { ToolList } from "./tool.ts";

/** The options of `konverge mcp`. */
export interface McpOptions extends ClusterChoice {
  readonly allowWrites: boolean;
  /** The folder of the project. */
  readonly folder: string;
  readonly version: string;
}

/**
 * Serves the tools of `konverge mcp` on standard input and output until the client disconnects.
 *
 * Guarantees: tools have the permissions of the kubeconfig's user, and no others; values of Secrets are never part of an answer;
 * without `allowWrites` there is no tool that writes, and the connection refuses requests that do.
 */
export async function serveMcp(options: McpOptions, stop: AbortSignal): Promise<void> {
  const { allowWrites, folder, version } = options;
  await using connection = new Connection(options, { readOnly: !allowWrites });
  const server = new McpServer({ name: "konverge", version }, { instructions: instructions(allowWrites) });
  const add: ToolList = ({ name, description, input, writes = false }, answer) => {
    const annotations = { readOnlyHint: !writes, openWorldHint: false };
    const inputSchema = (input ?? z.object({})) as z.ZodObject;
    server.registerTool(name, { description, inputSchema, annotations }, async (given: unknown) => {
      try {
        return text(await answer(given as never));
      } catch (error) {
        return { ...text(error instanceof Error ? error.message : String(error)), isError: true };
      }
    });
  };
  readingTools(add, connection);
  explainingTool(add, folder);
  if (allowWrites) {
    writingTools(add, connection);
    exploringTool(add, folder);
  }
  const ended = new Promise<void>((resolve) => {
    server.server.onclose = resolve;
    process.stdin.once("end", resolve);
    stop.addEventListener("abort", () => resolve(), { once: true });
  });
  await server.connect(new StdioServerTransport());
  await ended;
  await server.close();
}

function text(answer: string | object) {
  const shown = typeof answer === "string" ? answer : JSON.stringify(answer, undefined, 1);
  return { content: [{ type: "text" as const, text: shown }] };
}

function instructions(allowWrites: boolean): string {
  const reading =
    "Tools for developing Kubernetes operators with Konverge. `status` shows what is not ready and why; `timeline` what happened to an object and who wrote it; `explain_finding` a finding of the fault explorer.";
  return allowWrites
    ? `${reading} Begin with \`start_cluster\`, so that you work on an embedded cluster and on no other.`
    : `${reading} This server is read-only: for clusters, \`apply\` and \`explore\`, it has to be started with --allow-writes.`;
}
