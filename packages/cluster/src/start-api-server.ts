import { ApiServer, type ApiServerOptions, Guard } from "@konverge/apiserver";
import { realClock } from "@konverge/core";
import { CONTROL_PLANE } from "./control-plane-address.ts";
import type { Surroundings } from "./surroundings.ts";

/** An API server that has neither controllers nor nodes. */
export interface StandaloneApiServer extends AsyncDisposable {
  readonly server: ApiServer;
  /** What a port serves: the server, and proxies to its nodes, pods and services. */
  readonly guard: Guard;
  stop(): Promise<void>;
}

/**
 * Starts an API server alone, as envtest runs kube-apiserver. It loads no controllers and no nodes; what reaches beyond the
 * server (webhooks, other API servers, kubelets, proxies) is loaded with the first request for it.
 */
export function startApiServer({ clock = realClock(), ...options }: ApiServerOptions = {}): StandaloneApiServer {
  const { audit } = options;
  let loading: Promise<Surroundings> | undefined;
  const surroundings = () => {
    loading ??= import("./surroundings.ts").then(({ surroundingsOf }) => surroundingsOf(server, clock));
    return loading;
  };
  const server: ApiServer = new ApiServer({
    advertise: CONTROL_PLANE,
    callWebhook: async (...call) => (await surroundings()).callWebhook(...call),
    aggregation: { call: async (...call) => (await surroundings()).callExtension(...call) },
    kubelet: async (request) => (await surroundings()).streams(request),
    ...options,
    clock,
  });
  const guard = new Guard({
    access: server.access,
    limit: server.limit,
    ...(audit && { audit }),
    answer: async (...authorized) => {
      const { subresource } = authorized[1];
      const { front } = subresource === "proxy" ? await surroundings() : { front: server };
      return front.answer(...authorized);
    },
  });
  const stop = async () => {
    await (await loading)?.close();
    server.close();
  };
  return { server, guard, stop, [Symbol.asyncDispose]: stop };
}
