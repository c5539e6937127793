import { createHmac, timingSafeEqual } from "node:crypto";
import { connect } from "@konverge/client";
import { ConfigMap } from "@konverge/kinds";
import { parseYamlDocument } from "@konverge/schema";
import { UsageError } from "../usage-error.ts";

const TOKEN = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;

/**
 * The certificate of a cluster's authority, in PEM, for who knows nothing of the cluster but a bootstrap token: the server is
 * believed because what it publishes is signed with that token.
 */
export async function discoverAuthority(server: string, token: string): Promise<string> {
  const [, id = "", secret = ""] = TOKEN.exec(token) ?? [];
  if (secret === "") throw new UsageError(`--token ${token}: it must be of the form "${TOKEN.source}"`);
  await using client = await connect({ config: { server, insecureSkipTlsVerify: true, proxyUrl: "" } });
  const { data = {} } = await client.get(ConfigMap, "kube-public/cluster-info").catch((error: unknown) => {
    throw new UsageError(
      `--server ${server}: ${(error as Error).message}. It must be a cluster that was started with --real-nodes or --bootstrap-kubeconfig.`,
      { cause: error },
    );
  });
  const kubeconfig = data["kubeconfig"] ?? "";
  const [header = "", , signature = ""] = (data[`jws-kubeconfig-${id}`] ?? "").split(".");
  const signed = `${header}.${Buffer.from(kubeconfig).toString("base64url")}`;
  const expected = createHmac("sha256", secret).update(signed).digest();
  const given = Buffer.from(signature, "base64url");
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw new UsageError(
      `--server ${server}: it does not know the token ${id}: it has expired, or is of another cluster`,
    );
  }
  return clusterIn(kubeconfig).certificateAuthority;
}

/** Where the cluster of a kubeconfig is, and the certificate of its authority. */
export function clusterIn(kubeconfig: string): { server: string; certificateAuthority: string } {
  const { clusters = [] } = parseYamlDocument(kubeconfig).value as { clusters?: { cluster: Record<string, string> }[] };
  const { server = "", "certificate-authority-data": authority = "" } = clusters[0]?.cluster ?? {};
  return { server, certificateAuthority: Buffer.from(authority, "base64").toString() };
}
