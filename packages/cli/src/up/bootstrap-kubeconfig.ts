import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { kubeconfigText } from "@konverge/apiserver";
import { type Cluster, type ClusterPort, createBootstrapToken } from "@konverge/cluster";
import { UsageError } from "../usage-error.ts";

/** Writes what a kubelet takes as --bootstrap-kubeconfig. */
export async function writeBootstrapKubeconfig(file: string, cluster: Cluster, port: ClusterPort): Promise<void> {
  const text = await bootstrapKubeconfig(cluster, port);
  try {
    writeFileSync(resolve(file), text, { mode: 0o600 });
  } catch (error) {
    throw new UsageError(`--bootstrap-kubeconfig ${file}: ${(error as Error).message}`, { cause: error });
  }
}

/** With a new bootstrap token, which lets a kubelet request its certificates. */
export async function bootstrapKubeconfig(
  { client, clock }: Pick<Cluster, "client" | "clock">,
  { url, advertised, authority }: Pick<ClusterPort, "url" | "advertised" | "authority">,
): Promise<string> {
  const token = await createBootstrapToken(client, clock);
  const name = "kubelet-bootstrap";
  const server = advertised?.url ?? url;
  return kubeconfigText({ name, url: server, ca: authority.cert, user: name, credential: { token } });
}
