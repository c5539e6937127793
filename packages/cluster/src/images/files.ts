import { posix } from "node:path";
import type { Container, Pod } from "@konverge/kinds";
import { containerPath, subPathError } from "./confined-path.ts";
import { expand } from "./environment.ts";
import type { ProgramHost } from "./program-site.ts";
import { volumeContent } from "./volume-content.ts";

/** Where every container finds the identity it acts with. */
export const IDENTITY = "/var/run/secrets/kubernetes.io/serviceaccount";

/** The files that a container's volumes hold, by absolute path: ConfigMaps, Secrets, tokens and the downward API. */
export async function filesOf(
  host: ProgramHost,
  pod: Pod,
  container: Container,
  env: Readonly<Record<string, string>>,
): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for (const { name, mountPath, subPath = "", subPathExpr } of container.volumeMounts ?? []) {
    const volume = pod.spec?.volumes?.find((one) => one.name === name);
    if (!volume) continue;
    const given = subPathExpr === undefined ? subPath : expand(subPathExpr, env);
    const problem = subPathError(given);
    if (problem) throw new Error(problem);
    const mount = containerPath(mountPath);
    const part = containerPath(given);
    for (const [path, { data }] of await volumeContent(host, pod, container, volume)) {
      const below = posix.relative(part, posix.join("/", path));
      if (below !== ".." && !below.startsWith("../"))
        files.set(posix.join(mount, below), Buffer.from(data).toString("utf8"));
    }
  }
  await addIdentity(host, pod, files);
  return files;
}

/** Where admission adds no volume for it, a container has its identity all the same, unless the pod declines. */
async function addIdentity(host: ProgramHost, pod: Pod, files: Map<string, string>): Promise<void> {
  if (pod.spec?.automountServiceAccountToken === false) return;
  const path = `${IDENTITY}/token`;
  if (!files.has(path)) files.set(path, await host.tokens.token({}));
  if (!files.has(`${IDENTITY}/namespace`)) files.set(`${IDENTITY}/namespace`, pod.metadata.namespace ?? "default");
  // The ConfigMap with it may not have been published yet, or by a cluster that did not know its port.
  if (host.apiServer && !files.get(`${IDENTITY}/ca.crt`)) files.set(`${IDENTITY}/ca.crt`, host.apiServer.ca);
}
