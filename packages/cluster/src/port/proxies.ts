import { encodedPath, type RequestInfo, subpathOf } from "@konverge/apiserver";
import type { Client } from "@konverge/client";
import { ApiError, type ApiRequest, type ApiResponse, badRequest, type HeaderMap, headerOf } from "@konverge/core";
import { Pod } from "@konverge/kinds";
import { requestOver } from "../streams/pod-http.ts";
import type { PodNetwork } from "../streams/pod-network.ts";
import { type Backend, NoBackendError, namedPort, type ServiceBackends } from "../streams/service-backend.ts";
import { throughProxy } from "./proxied-pages.ts";

/** Headers that are about one connection, or for the API server alone. */
const NOT_PASSED_ON = new Set([
  "authorization",
  "connection",
  "content-length",
  "host",
  "keep-alive",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** What proxies need of their cluster. */
export interface ProxyHost {
  readonly client: Client;
  readonly network: PodNetwork;
  readonly backends: ServiceBackends;
}

/** Whether a request is proxied to a pod, directly or by a Service. */
export function isProxied({ group, resource, subresource, name, verb }: RequestInfo): boolean {
  const isOfOne = group === "" && subresource === "proxy" && name !== "" && verb !== "watch" && verb !== "proxy";
  return isOfOne && (resource === "pods" || resource === "services");
}

/** Passes a request on to what listens: `pods/NAME:PORT/proxy/PATH`, `services/SCHEME:NAME:PORT/proxy/PATH`. */
export async function proxied(host: ProxyHost, request: ApiRequest, info: RequestInfo): Promise<ApiResponse> {
  if (request.upgrade) throw badRequest("proxies of the embedded API server pass on requests, not streams");
  const { scheme, name, port } = targetOf(info.name);
  const path = subpathOf(info);
  const prefix = encodedPath(`/api/${info.version}/namespaces/${info.namespace}/${info.resource}/${info.name}/proxy`);
  const query = request.path.includes("?") ? request.path.slice(request.path.indexOf("?")) : "";
  // Relative links of a page would lead astray without the slash.
  if (path === "" && (request.method === "GET" || request.method === "HEAD"))
    return { status: 301, headers: { location: `${prefix}/${query}` }, body: "" };
  const backend =
    info.resource === "pods"
      ? await podBackend(host, info, name, port, scheme === "https" ? 443 : 80)
      : serviceBackend(host, info, name, port);
  try {
    const address = `${backend.pod.status?.podIP ?? name}:${backend.port}`;
    const requested = headerOf(request.headers, "host") ?? address;
    const connection = await host.network.dial(backend.pod, backend.port);
    const response = await requestOver(connection, {
      method: request.method,
      path: (path || "/") + query,
      headers: { ...passedOn(request.headers), host: requested, "x-forwarded-uri": prefix + path },
      ...(request.body !== undefined && { body: request.body }),
      // The certificates of pods have no known authority, so a real API server does not verify them either.
      ...(scheme === "https" && { tls: { rejectUnauthorized: false } }),
      ...(request.signal && { signal: request.signal }),
    });
    const answer = { status: response.statusCode ?? 502, headers: passedOn(response.headers as HeaderMap) };
    return await throughProxy({ ...answer, body: response }, { prefix, address, requested });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw unavailable(`error trying to reach service: ${why}`);
  }
}

function targetOf(text: string): { scheme: string; name: string; port: string } {
  const parts = text.split(":");
  const [first = "", second = "", third = ""] = parts;
  if (parts.length === 1) return { scheme: "http", name: first, port: "" };
  if (parts.length === 2) return { scheme: "http", name: first, port: second };
  if (parts.length > 3 || (first !== "http" && first !== "https" && first !== "")) {
    throw badRequest(`invalid service request ${JSON.stringify(text)}`);
  }
  return { scheme: first || "http", name: second, port: third };
}

async function podBackend(
  { client }: ProxyHost,
  { namespace }: RequestInfo,
  name: string,
  port: string,
  usual: number,
): Promise<Backend> {
  const pod = await client.get(Pod, `${namespace}/${name}`);
  const declared = pod.spec?.containers.flatMap(({ ports = [] }) => ports)[0]?.containerPort;
  const number = port === "" ? (declared ?? usual) : /^\d+$/.test(port) ? Number(port) : namedPort(pod, port);
  if (number === undefined) throw badRequest(`address not allowed: pod ${JSON.stringify(name)} has no port ${port}`);
  return { pod, port: number };
}

function serviceBackend({ backends }: ProxyHost, { namespace }: RequestInfo, name: string, port: string): Backend {
  try {
    return backends.find(namespace, name, port);
  } catch (error) {
    if (!(error instanceof NoBackendError)) throw error;
    if (!error.isMissing) throw unavailable(error.message);
    const details = { name, kind: "services" };
    throw new ApiError({ code: 404, reason: "NotFound", message: `services "${name}" not found`, details });
  }
}

function passedOn(headers: HeaderMap): Record<string, string | readonly string[]> {
  const kept: Record<string, string | readonly string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !name.startsWith(":") && !NOT_PASSED_ON.has(name)) kept[name] = value;
  }
  return kept;
}

function unavailable(message: string): ApiError {
  return new ApiError({ code: 503, reason: "ServiceUnavailable", message });
}
