import { Command } from "commander";
import { UsageError } from "../usage-error.ts";

/** How long a server may take to answer, in milliseconds. */
const PATIENCE = 10_000;

/** `konverge probe`: for images that have neither a shell nor curl. `helm test` runs it. */
export function probeCommand(): Command {
  return new Command("probe")
    .description("request a URL, and fail unless the response is a success")
    .argument("<url>", "the URL")
    .addHelpText("after", "\nFor example: konverge probe http://localhost:8081/readyz")
    .action(async (url: string) => {
      const response = await fetch(url, { signal: AbortSignal.timeout(PATIENCE) }).catch((error: unknown) => {
        const { cause = error } = error as { cause?: unknown };
        throw new UsageError(`${url} does not answer: ${cause instanceof Error ? cause.message : cause}`, { cause });
      });
      await response.body?.cancel();
      if (!response.ok) throw new UsageError(`${url} answers ${response.status} ${response.statusText}`);
      console.log(`${url} answers ${response.status}`);
    });
}
