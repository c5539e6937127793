import { isNotFound, type KindRef, type KubeObject, parseQuantity } from "@konverge/core";
import {
  ConfigMap,
  type Container,
  type EnvVarSource,
  Node,
  type Pod,
  type ResourceFieldSelector,
  Secret,
  Service,
} from "@konverge/kinds";
import { hostNameOf } from "../streams/cluster-names.ts";
import type { ProgramHost } from "./program-site.ts";

/**
 * The environment of a container: its own variables over those of whole ConfigMaps and Secrets over the cluster's. What
 * runs as a process of this machine finds the API server where it really listens.
 */
export async function environmentOf(
  host: ProgramHost,
  pod: Pod,
  container: Container,
): Promise<Record<string, string>> {
  return declaredEnvironment(host, pod, container, {
    HOSTNAME: hostNameOf(pod),
    ...(host.apiServer && {
      KUBERNETES_SERVICE_HOST: host.apiServer.host,
      KUBERNETES_SERVICE_PORT: String(host.apiServer.port),
    }),
  });
}

/** The environment of a container that lives in the cluster's own network: Services are where they say they are. */
export async function insideEnvironment(
  host: ProgramHost,
  pod: Pod,
  container: Container,
): Promise<Record<string, string>> {
  return declaredEnvironment(host, pod, container, {
    PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    HOSTNAME: hostNameOf(pod),
    HOME: "/root",
    ...(await serviceVariables(host, pod)),
  });
}

/** How pods that are older than name servers find Services. */
async function serviceVariables(host: ProgramHost, { metadata, spec }: Pod): Promise<Record<string, string>> {
  const own = await maybe(host, Service, "default/kubernetes");
  const isWanted = spec?.enableServiceLinks !== false;
  const others = isWanted
    ? (await host.client.list(Service, { namespace: metadata.namespace ?? "default" })).items
    : [];
  const env: Record<string, string> = {};
  for (const { metadata: about, spec: service } of [...(own ? [own] : []), ...others]) {
    const { clusterIP, ports = [] } = service ?? {};
    const [first] = ports;
    if (!clusterIP || clusterIP === "None" || !first) continue;
    const prefix = about.name.toUpperCase().replaceAll("-", "_");
    const url = (port: number, protocol: string) => `${protocol.toLowerCase()}://${clusterIP}:${port}`;
    env[`${prefix}_SERVICE_HOST`] = clusterIP;
    env[`${prefix}_SERVICE_PORT`] = String(first.port);
    env[`${prefix}_PORT`] = url(first.port, first.protocol ?? "TCP");
    for (const { name, port, protocol = "TCP" } of ports) {
      if (name) env[`${prefix}_SERVICE_PORT_${name.toUpperCase().replaceAll("-", "_")}`] = String(port);
      const one = `${prefix}_PORT_${port}_${protocol.toUpperCase()}`;
      env[one] = url(port, protocol);
      env[`${one}_PROTO`] = protocol.toLowerCase();
      env[`${one}_PORT`] = String(port);
      env[`${one}_ADDR`] = clusterIP;
    }
  }
  return env;
}

async function declaredEnvironment(
  host: ProgramHost,
  pod: Pod,
  container: Container,
  env: Record<string, string>,
): Promise<Record<string, string>> {
  const namespace = pod.metadata.namespace ?? "default";
  for (const { prefix = "", configMapRef, secretRef } of container.envFrom ?? []) {
    const data = configMapRef
      ? await configMapData(host, namespace, configMapRef.name ?? "")
      : await secretData(host, namespace, secretRef?.name ?? "");
    for (const [key, value] of Object.entries(data ?? {})) env[prefix + key] = textOf(value);
  }
  for (const { name, value, valueFrom } of container.env ?? []) {
    const found = valueFrom ? await sourceValue(host, pod, container, valueFrom) : expand(value ?? "", env);
    if (found !== undefined) env[name] = found;
  }
  return env;
}

/** What Linux lets a variable or an argument hold, in bytes. */
const LONGEST = 128 * 1024;

/**
 * Replaces `$(NAME)` where there is such a variable; `$$(NAME)` stands for itself. Throws when that becomes more than a
 * process can be given: variables that name one another twice each would have no end.
 */
export function expand(text: string, env: Readonly<Record<string, string>>): string {
  let added = 0;
  // Behind the last bracket there is no reference, and looking for one would take long.
  const end = text.lastIndexOf(")") + 1;
  const expanded = text.slice(0, end).replace(REFERENCE, (whole, what: string, name: string | undefined) => {
    if (what === "$") return "$";
    const value = Object.hasOwn(env, name ?? "") ? env[name ?? ""] : undefined;
    added += value?.length ?? 0;
    if (added > LONGEST) throw new Error("argument list too long");
    return value ?? whole;
  });
  return expanded + text.slice(end).replaceAll("$$", () => "$");
}

const REFERENCE = /\$(\$|\(([^)]*)\))/g;

/** A ConfigMap's contents, or undefined when there is none. */
export async function configMapData(host: ProgramHost, namespace: string, name: string) {
  const found = await maybe(host, ConfigMap, `${namespace}/${name}`);
  if (!found) return undefined;
  return { ...inBytes(found.data), ...decoded(found.binaryData) };
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
      .sort(([a], [b]) => (a < b ? -1 : 1))
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
  return Object.hasOwn(values, path) ? values[path]?.() : undefined;
}

/** A value that the downward API gives from a container's resources; a limit that is not set is all that its node has. */
export async function resourceValue(
  host: Pick<ProgramHost, "client">,
  pod: Pod,
  container: Container,
  { resource, divisor = "1" }: Pick<ResourceFieldSelector, "resource" | "divisor">,
): Promise<string> {
  const [list, name = ""] = resource.split(/\.(.*)/s);
  const { limits, requests } = container.resources ?? {};
  const given = list === "limits" ? limits?.[name] : (requests?.[name] ?? limits?.[name]);
  const ofNode = async () =>
    list === "limits" && pod.spec?.nodeName
      ? (await maybe(host, Node, pod.spec.nodeName))?.status?.allocatable?.[name]
      : undefined;
  const quantity = given ?? (await ofNode()) ?? "0";
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
  if (resourceFieldRef) return resourceValue(host, pod, container, resourceFieldRef);
  const data = configMapKeyRef
    ? await configMapData(host, namespace, configMapKeyRef.name ?? "")
    : await secretData(host, namespace, secretKeyRef?.name ?? "");
  const { key = "" } = configMapKeyRef ?? secretKeyRef ?? {};
  return data && Object.hasOwn(data, key) ? textOf(data[key]!) : undefined;
}

function textOf(data: Uint8Array): string {
  return Buffer.from(data).toString("utf8");
}

function inBytes(data: Record<string, string> = {}): Record<string, Uint8Array> {
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value)]));
}

function decoded(data: Record<string, string> | undefined): Record<string, Uint8Array> | undefined {
  if (!data) return undefined;
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64")]));
}

async function maybe<T extends KubeObject>(
  host: Pick<ProgramHost, "client">,
  kind: KindRef<T>,
  key: string,
): Promise<T | undefined> {
  return host.client.get(kind, key).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
}
