import { realClock, type Transport } from "@konverge/core";
import { Client, type ClientOptions } from "./client.ts";
import type { ConnectionConfig } from "./config/connection-config.ts";
import { type LoadConfigOptions, loadConfig } from "./config/load-config.ts";
import { impersonatingTransport } from "./impersonation.ts";

export interface ConnectOptions extends Omit<ClientOptions, "onClose">, LoadConfigOptions {
  /** The cluster to connect to. Default: what `loadConfig` finds. */
  config?: ConnectionConfig;
  /** Wraps the transport, for example to count, record or disturb requests. */
  around?: (transport: Transport) => Transport;
}

/**
 * A client of the cluster that kubectl would use, or of the cluster of this pod:
 *
 * ```ts
 * await using client = await connect();
 * const pods = await client.list(Pod, { namespace: "default" });
 * ```
 *
 * No connection is made before the first call.
 */
export async function connect(options: ConnectOptions = {}): Promise<Client> {
  const config = options.config ?? (await loadConfig(options));
  const clock = options.clock ?? realClock();
  const { socketTransport } = await import("./socket-transport.ts");
  const { transport: socket, close } = socketTransport(config, { clock });
  const { config: _, kubeconfig: _k, context: _c, env: _e, around, ...clientOptions } = options;
  const transport = around ? around(socket) : socket;
  return new Client(config.impersonate ? impersonatingTransport(transport, config.impersonate) : transport, {
    namespace: config.namespace,
    ...clientOptions,
    clock,
    onClose: close,
  });
}
