import type { Container, KeyToPath, Pod, Volume, VolumeProjection } from "@konverge/kinds";
import { containerPath } from "./confined-path.ts";
import { configMapData, fieldValue, resourceValue, secretData } from "./environment.ts";
import type { ProgramHost } from "./program-site.ts";

/** A file of a volume that the cluster fills. */
export interface VolumeFile {
  readonly data: Uint8Array;
  readonly mode: number;
}

const READABLE = 0o644;

/** Whether the cluster fills a volume, and keeps it up to date: ConfigMaps, Secrets, tokens and the downward API. */
export function isFilled({ configMap, secret, downwardAPI, projected }: Volume): boolean {
  return Boolean(configMap || secret || downwardAPI || projected);
}

/** The files of such a volume, by their paths in it. */
export async function volumeContent(
  host: ProgramHost,
  pod: Pod,
  container: Container | undefined,
  volume: Volume,
): Promise<Map<string, VolumeFile>> {
  const { configMap, secret, downwardAPI, projected } = volume;
  const mode = configMap?.defaultMode ?? secret?.defaultMode ?? downwardAPI?.defaultMode ?? projected?.defaultMode;
  const sources: VolumeProjection[] = [
    ...(configMap ? [{ configMap }] : []),
    ...(secret ? [{ secret: { name: secret.secretName, items: secret.items } as never }] : []),
    ...(downwardAPI ? [{ downwardAPI }] : []),
    ...(projected?.sources ?? []),
  ];
  const files = new Map<string, VolumeFile>();
  for (const source of sources) await addSource(host, pod, container, source, mode ?? READABLE, files);
  // No path leads out of its volume, even if the stored object has a malicious one.
  const confined = Array.from(files, ([path, file]) => [containerPath(path).slice(1), file] as const);
  return new Map(confined.filter(([path]) => path !== ""));
}

async function addSource(
  host: ProgramHost,
  pod: Pod,
  container: Container | undefined,
  { configMap, secret, downwardAPI, serviceAccountToken }: VolumeProjection,
  mode: number,
  files: Map<string, VolumeFile>,
): Promise<void> {
  const namespace = pod.metadata.namespace ?? "default";
  if (configMap) addItems(files, await configMapData(host, namespace, configMap.name ?? ""), configMap.items, mode);
  if (secret) addItems(files, await secretData(host, namespace, secret.name ?? ""), secret.items, mode);
  for (const { path, fieldRef, resourceFieldRef, mode: own } of downwardAPI?.items ?? []) {
    const named = pod.spec?.containers.find(({ name }) => name === resourceFieldRef?.containerName) ?? container;
    const value = fieldRef
      ? fieldValue(host, pod, fieldRef.fieldPath)
      : named && resourceFieldRef && (await resourceValue(host, pod, named, resourceFieldRef));
    files.set(path, { data: Buffer.from(value ?? ""), mode: own ?? mode });
  }
  if (serviceAccountToken) {
    const { path, audience, expirationSeconds } = serviceAccountToken;
    const token = await host.tokens.token({ audience, expirationSeconds });
    files.set(path, { data: Buffer.from(token), mode: tokenMode(pod, mode) });
  }
}

/** Only the user of the containers can read a token, if all containers of the pod have the same user. */
function tokenMode({ spec }: Pod, mode: number): number {
  if (spec?.securityContext?.fsGroup !== undefined) return 0o640;
  const users = new Set(
    spec?.containers.map((one) => one.securityContext?.runAsUser ?? spec.securityContext?.runAsUser),
  );
  return users.size === 1 && !users.has(undefined) ? 0o600 : mode;
}

function addItems(
  files: Map<string, VolumeFile>,
  data: Record<string, Uint8Array> | undefined,
  items: readonly KeyToPath[] | undefined,
  mode: number,
): void {
  if (!items) for (const [key, value] of Object.entries(data ?? {})) files.set(key, { data: value, mode });
  for (const { key, path, mode: own } of items ?? []) {
    if (data && Object.hasOwn(data, key)) files.set(path, { data: data[key]!, mode: own ?? mode });
  }
}
