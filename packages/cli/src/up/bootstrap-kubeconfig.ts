import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { kubeconfigText } from "@konverge/apiserver";
import { type Cluster, type ClusterPort, createBootstrapToken } from "@konverge/cluster";
import { UsageError } from "../usage-error.ts";

/** Writes what a kubelet takes as --bootstrap-kubeconfig: with a new bootstrap token, which lets it request its certificates. */
export async function writeBootstrapKubeconfig(
  file: string,
  { client, clock }: Cluster,
  { url, advertised, authority }: ClusterPort,
): Promise<void> {
  const token = await createBootstrapToken(client, clock);
  const name = "kubelet-bootstrap";
  const text = kubeconfigText({
    name,
    url: advertised?.url ?? url,
    ca: authority.cert,
    user: name,
    credential: { token },
  });
  try {
    writeFileSync(resolve(file), text, { mode: 0o600 });
  } catch (error) {
    throw new UsageError(`--bootstrap-kubeconfig ${file}: ${(error as Error).message}`, { cause: error });
  }
}
