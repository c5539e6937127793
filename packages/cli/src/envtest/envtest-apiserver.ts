import { type ApiServerOptions, listen } from "@konverge/apiserver";
import { type StandaloneApiServer, startApiServer } from "@konverge/cluster/api-server";
import { type Clock, realClock } from "@konverge/core";
import { openAudit } from "../up/audit.ts";
import { HELP, setupFrom } from "./apiserver-flags.ts";

/** Starts the API server, alone or with the rest of a cluster. */
export type StartServer = (
  options: ApiServerOptions & { clock: Clock },
) => Promise<Pick<StandaloneApiServer, "guard" | "stop">>;

/** Plays kube-apiserver for envtest until it is told to end. */
export async function runEnvtestApiServer(
  args: readonly string[],
  start: StartServer = async (options) => startApiServer(options),
): Promise<void> {
  // envtest asks for the help first, to learn which flags this version still has.
  if (args.includes("--help")) {
    console.log(`Usage:\n  kube-apiserver [flags]\n\nSupported flags; others are accepted and ignored:\n${HELP}`);
    return;
  }
  const clock = realClock();
  const { host, port, tls, access, admission, audit: audited, ...version } = setupFrom(args, clock);
  const audit = await openAudit(audited, clock);
  const cluster = await start({ clock, access, admission, ...version, ...(audit && { audit: audit.log }) });
  const listener = await listen(cluster.guard, {
    host,
    port,
    tls,
    clock,
    grace: 200,
    onError: (error, { method, path }) => console.error(`${method} ${path}:`, error),
  });
  console.error(`the embedded API server listens at ${listener.url}`);
  const end = () => {
    listener
      .close()
      .then(() => cluster.stop())
      .then(() => audit?.close())
      .finally(() => process.exit(0));
  };
  process.once("SIGINT", end);
  process.once("SIGTERM", end);
}
