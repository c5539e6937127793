// Started by `operatorProgram`, as a separate process with few permissions: a container of the image of operators. It
// takes no args and reads no variables: what to do is the first message.
import { stopOnSignals } from "./commands/stop-on-signals.ts";
import { type ContainerRequest, runContainer } from "./operator-image/run-container.ts";

const stop = AbortSignal.any([stopOnSignals(), whenAbandoned()]);

process.once("message", async (request: ContainerRequest) => {
  const code = await runContainer(request, stop, (listening) => process.send?.(listening)).then(
    () => 0,
    (error: unknown) => {
      process.stderr.write(`konverge: ${error instanceof Error ? error.message : String(error)}\n`);
      return 1;
    },
  );
  process.stdout.write("", () => process.exit(code));
});

/** Fires when the process of the cluster is gone. */
function whenAbandoned(): AbortSignal {
  const gone = new AbortController();
  process.once("disconnect", () => gone.abort());
  return gone.signal;
}
