import { callWebhook, type ImagesOptions, startCluster } from "@konverge/cluster";
import type { StartServer } from "./envtest-apiserver.ts";

/** Starts the API server with the built-in controllers, the scheduler and simulated nodes. */
export function withControllers(images: ImagesOptions): StartServer {
  return ({ clock, ...server }) => startCluster({ clock, ...images, server: { ...server, callWebhook } });
}
