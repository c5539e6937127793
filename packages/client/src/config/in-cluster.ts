import { readFile } from "node:fs/promises";
import { ConfigError, type ConnectionConfig } from "./connection-config.ts";

/** Where a pod finds its service account. */
const FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount";

type Environment = Readonly<Record<string, string | undefined>>;

/** Whether this process runs in a pod that may talk to its cluster. */
export function isInCluster(env: Environment): boolean {
  return Boolean(env.KUBERNETES_SERVICE_HOST && env.KUBERNETES_SERVICE_PORT);
}

/**
 * The configuration of a pod: the token of its service account, which is read again before it expires. Containers that
 * are processes of one machine have $KONVERGE_SERVICE_ACCOUNT, the folder of the service account.
 */
export async function inClusterConfig(
  env: Environment,
  folder = env.KONVERGE_SERVICE_ACCOUNT || FOLDER,
): Promise<ConnectionConfig> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env;
  if (!host || !port) {
    throw new ConfigError("not in a cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set");
  }
  const namespace = await readFile(`${folder}/namespace`, "utf8").catch((cause: unknown) => {
    throw new ConfigError(
      `cannot read the service account in ${folder}: ${String(cause)}; does the pod have automountServiceAccountToken: false?`,
      { cause },
    );
  });
  return {
    server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
    namespace: namespace.trim(),
    ca: { file: `${folder}/ca.crt` },
    credentials: { token: { file: `${folder}/token` } },
  };
}
