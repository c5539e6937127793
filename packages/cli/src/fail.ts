import { explained } from "./missing-package.ts";
import { UsageError } from "./usage-error.ts";

/** Ends the process with an error: its message, and its stack only for those who ask for it. */
export function fail(thrown: unknown): never {
  const error = explained(thrown);
  const isPlain = error instanceof UsageError || process.env["KONVERGE_DEBUG"] === undefined;
  console.error(`konverge: ${error instanceof Error ? (isPlain ? error.message : error.stack) : String(error)}`);
  process.exit(1);
}
