import { isNotFound, type KindRef, type KubeObject, parseQuantity } from "@konverge/core";
import { ConfigMap, type Container, type EnvVarSource, type Pod, Secret } from "@konverge/kinds";
import type { ProgramHost } from "./program.ts";

/** The environment of a container: its own variables over those of whole ConfigMaps and Secrets over the cluster's. */
export async function environmentOf(
  host: ProgramHost,
  pod: Pod,
  container: Container,
): Promise<Record<string, string>> {
  const env: Record<string, string> = { HOSTNAME: pod.spec?.hostname ?? pod.metadata.name };
  if (host.apiServer) {
    env["KUBERNETES_SERVICE_HOST"] = host.apiServer.host;
    env["KUBERNETES_SERVICE_PORT"] = String(host.apiServer.port);
  }
  const namespace = pod.metadata.namespace ?? "default";
  for (const { prefix = "", configMapRef, secretRef } of container.envFrom ?? []) {
    const data = configMapRef
      ? await configMapData(host, namespace, configMapRef.name ?? "")
      : await secretData(host, namespace, secretRef?.name ?? "");
    for (const [key, value] of Object.entries(data ?? {})) env[prefix + key] = value;
  }
  for (const { name, value, valueFrom } of container.env ?? []) {
    const found = valueFrom ? await sourceValue(host, pod, container, valueFrom) : expand(value ?? "", env);
    if (found !== undefined) env[name] = found;
  }
  return env;
}

/** Replaces `$(NAME)` where there is such a variable; `$$(NAME)` stands for itself. */
export function expand(text: string, env: Readonly<Record<string, string>>): string {
  return text.replace(/\$(\$|\(([^)]*)\))/g, (whole, what: string, name: string | undefined) =>
    what === "$" ? "$" : (env[name ?? ""] ?? whole),
  );
}

/** A ConfigMap's contents, or undefined when there is none. */
export async function configMapData(host: ProgramHost, namespace: string, name: string) {
  const found = await maybe(host, ConfigMap, `${namespace}/${name}`);
  if (!found) return undefined;
  return { ...found.data, ...decoded(found.binaryData) };
}

/** A Secret's contents, decoded, or undefined when there is none. */
export async function secretData(host: ProgramHost, namespace: string, name: string) {
  return decoded((await maybe(host, Secret, `${namespace}/${name}`))?.data);
}

/** A value that the downward API gives by the path of a field. */
export function fieldValue(host: Pick<ProgramHost, "place">, pod: Pod, path: string): string | undefined {
  const { metadata, spec } = pod;
  const [, list, key] = /^metadata\.(labels|annotations)\['([^']*)'\]$/.exec(path) ?? [];
  if (list !== undefined) return metadata[list as "labels" | "annotations"]?.[key ?? ""] ?? "";
  const lines = (values: Record<string, string> = {}) =>
    Object.entries(values)
      .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
      .join("\n");
  const values: Record<string, () => string | undefined> = {
    "metadata.name": () => metadata.name,
    "metadata.namespace": () => metadata.namespace,
    "metadata.uid": () => metadata.uid,
    "metadata.labels": () => lines(metadata.labels),
    "metadata.annotations": () => lines(metadata.annotations),
    "spec.nodeName": () => spec?.nodeName,
    "spec.serviceAccountName": () => spec?.serviceAccountName,
    "status.hostIP": () => host.place.hostIP,
    "status.hostIPs": () => host.place.hostIP,
    "status.podIP": () => host.place.podIP,
    "status.podIPs": () => host.place.podIP,
  };
  return values[path]?.();
}

/** A value that the downward API gives from a container's resources. */
export function resourceValue(container: Container, resource: string, divisor = "1"): string {
  const [list, name = ""] = resource.split(/\.(.*)/s);
  const { limits, requests } = container.resources ?? {};
  const quantity = (list === "limits" ? limits : requests)?.[name] ?? limits?.[name] ?? "0";
  const unit = divisor === "0" ? "1" : divisor;
  return String(Math.ceil(parseQuantity(quantity).asNumber() / parseQuantity(unit).asNumber()));
}

async function sourceValue(
  host: ProgramHost,
  pod: Pod,
  container: Container,
  { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef }: EnvVarSource,
): Promise<string | undefined> {
  const namespace = pod.metadata.namespace ?? "default";
  if (fieldRef) return fieldValue(host, pod, fieldRef.fieldPath);
  if (resourceFieldRef) return resourceValue(container, resourceFieldRef.resource, resourceFieldRef.divisor);
  if (configMapKeyRef) return (await configMapData(host, namespace, configMapKeyRef.name ?? ""))?.[configMapKeyRef.key];
  if (secretKeyRef) return (await secretData(host, namespace, secretKeyRef.name ?? ""))?.[secretKeyRef.key];
  return undefined;
}

function decoded(data: Record<string, string> | undefined): Record<string, string> | undefined {
  if (!data) return undefined;
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString("utf8")]),
  );
}

async function maybe<T extends KubeObject>(host: ProgramHost, kind: KindRef<T>, key: string): Promise<T | undefined> {
  return host.client.get(kind, key).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
}
