import { posix } from "node:path";
import type { Container, KeyToPath, Pod, Volume, VolumeProjection } from "@konverge/kinds";
import { configMapData, fieldValue, resourceValue, secretData } from "./environment.ts";
import type { ProgramHost } from "./program.ts";

/** Where every container finds the identity it acts with. */
export const IDENTITY = "/var/run/secrets/kubernetes.io/serviceaccount";

/** The files that a container's volumes hold, by absolute path: ConfigMaps, Secrets, tokens and the downward API. */
export async function filesOf(host: ProgramHost, pod: Pod, container: Container): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for (const { name, mountPath, subPath } of container.volumeMounts ?? []) {
    const volume = pod.spec?.volumes?.find((one) => one.name === name);
    if (!volume) continue;
    for (const [path, content] of await contentOf(host, pod, container, volume)) {
      if (subPath === undefined) files.set(posix.join(mountPath, path), content);
      else if (path === subPath) files.set(mountPath, content);
      else if (path.startsWith(`${subPath}/`)) files.set(posix.join(mountPath, path.slice(subPath.length)), content);
    }
  }
  await addIdentity(host, pod, files);
  return files;
}

async function contentOf(
  host: ProgramHost,
  pod: Pod,
  container: Container,
  volume: Volume,
): Promise<Map<string, string>> {
  const { configMap, secret, downwardAPI, projected } = volume;
  const sources: VolumeProjection[] = [
    ...(configMap ? [{ configMap }] : []),
    ...(secret ? [{ secret: { name: secret.secretName, items: secret.items } as never }] : []),
    ...(downwardAPI ? [{ downwardAPI }] : []),
    ...(projected?.sources ?? []),
  ];
  const files = new Map<string, string>();
  for (const source of sources) await addSource(host, pod, container, source, files);
  return files;
}

async function addSource(
  host: ProgramHost,
  pod: Pod,
  container: Container,
  { configMap, secret, downwardAPI, serviceAccountToken }: VolumeProjection,
  files: Map<string, string>,
): Promise<void> {
  const namespace = pod.metadata.namespace ?? "default";
  if (configMap) addItems(files, await configMapData(host, namespace, configMap.name ?? ""), configMap.items);
  if (secret) addItems(files, await secretData(host, namespace, secret.name ?? ""), secret.items);
  for (const { path, fieldRef, resourceFieldRef } of downwardAPI?.items ?? []) {
    const named = [...(pod.spec?.containers ?? [])].find(({ name }) => name === resourceFieldRef?.containerName);
    const value = fieldRef
      ? fieldValue(host, pod, fieldRef.fieldPath)
      : resourceFieldRef && resourceValue(named ?? container, resourceFieldRef.resource, resourceFieldRef.divisor);
    files.set(path, value ?? "");
  }
  if (serviceAccountToken) {
    const { path, audience, expirationSeconds } = serviceAccountToken;
    files.set(path, await host.tokens.token({ audience, expirationSeconds }));
  }
}

function addItems(
  files: Map<string, string>,
  data: Record<string, string> | undefined,
  items?: readonly KeyToPath[],
): void {
  if (!items) for (const [key, value] of Object.entries(data ?? {})) files.set(key, value);
  for (const { key, path } of items ?? []) if (data?.[key] !== undefined) files.set(path, data[key]);
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
