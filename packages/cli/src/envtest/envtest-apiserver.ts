import { type ApiServerOptions, listen } from "@konverge/apiserver";
import type { Cluster, ImagesOptions } from "@konverge/cluster";
import { startApiServer } from "@konverge/cluster/api-server";
import { type Clock, realClock } from "@konverge/core";
import { openAudit } from "../up/audit.ts";
import { HELP, setupFrom } from "./apiserver-flags.ts";

/** What runs besides the API server. */
export interface EnvtestOptions extends ImagesOptions {
  readonly controllers: boolean;
}

/** Plays kube-apiserver for envtest until it is told to end. */
export async function runEnvtestApiServer(
  args: readonly string[],
  { controllers, ...images }: EnvtestOptions,
): Promise<void> {
  // envtest asks for the help first, to learn which flags this version still has.
  if (args.includes("--help")) {
    console.log(`Usage:\n  kube-apiserver [flags]\n\nSupported flags; others are accepted and ignored:\n${HELP}`);
    return;
  }
  const clock = realClock();
  const { host, port, tls, access, admission, audit: audited } = setupFrom(args, clock);
  const audit = await openAudit(audited, clock);
  const server = { access, admission, ...(audit && { audit: audit.log }) };
  const cluster = controllers ? await clusterOf(clock, images, server) : startApiServer({ ...server, clock });
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

async function clusterOf(
  clock: Clock,
  images: ImagesOptions,
  server: Omit<ApiServerOptions, "clock">,
): Promise<Cluster> {
  const { callWebhook, startCluster } = await import("@konverge/cluster");
  return startCluster({ clock, ...images, server: { ...server, callWebhook } });
}
