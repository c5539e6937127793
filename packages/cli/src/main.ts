// The `konverge` command. Each command loads what it needs when it runs: an operator in production loads no cluster.
import { konverge } from "./program.ts";
import { UsageError } from "./usage-error.ts";

function fail(error: unknown): never {
  const isPlain = error instanceof UsageError || process.env["KONVERGE_DEBUG"] === undefined;
  console.error(`konverge: ${error instanceof Error ? (isPlain ? error.message : error.stack) : String(error)}`);
  process.exit(1);
}

await konverge(fail).parseAsync().catch(fail);
