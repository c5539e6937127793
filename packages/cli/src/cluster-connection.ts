import { type Client, ConfigError, type ConnectOptions, connect, TransportError } from "@konverge/client";
import { ApiError } from "@konverge/core";
import { UsageError } from "./usage-error.ts";

/** How long a server may take to say that it is there, in milliseconds. */
const PATIENCE = 15_000;

/** Which cluster a command works on. */
export interface ClusterChoice {
  readonly kubeconfig?: string;
  readonly context?: string;
}

/** Connects, and checks that a server responds: a command that cannot work reports that at once, and what to do. */
export async function connectToCluster(
  { kubeconfig, context }: ClusterChoice,
  options: Omit<ConnectOptions, "kubeconfig" | "context"> = {},
): Promise<Client> {
  const client = await connect({
    ...options,
    ...(kubeconfig !== undefined && { kubeconfig }),
    ...(context !== undefined && { context }),
  }).catch((error: unknown) => {
    if (!(error instanceof ConfigError)) throw error;
    throw new UsageError(
      `${error.message}\nName a kubeconfig with --kubeconfig or $KUBECONFIG, or start a cluster: konverge up`,
      { cause: error },
    );
  });
  try {
    await client.version({ timeout: PATIENCE });
  } catch (error) {
    await client.close();
    throw explained(error);
  }
  return client;
}

function explained(error: unknown): unknown {
  if (error instanceof TransportError) {
    const advice: Partial<Record<TransportError["code"], string>> = {
      unreachable: "Is the cluster running? Check the server in your kubeconfig (kubectl cluster-info).",
      timeout: "Is the cluster running? Check the server in your kubeconfig (kubectl cluster-info).",
      tls: "The certificates in your kubeconfig are not those of this server: get a new kubeconfig.",
      credentials: "Log in again, or fix the user in your kubeconfig.",
      malformed: "Something else answers at this address: check the server in your kubeconfig.",
    };
    const what = advice[error.code];
    return new UsageError(`the API server does not answer: ${error.message}${what ? `\n${what}` : ""}`, {
      cause: error,
    });
  }
  if (error instanceof ApiError && error.code === 401) {
    return new UsageError("the API server does not know this user: log in again, or fix your kubeconfig", {
      cause: error,
    });
  }
  return error;
}
