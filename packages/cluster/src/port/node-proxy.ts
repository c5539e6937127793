import { lookup } from "node:dns/promises";
import { type RequestInfo, subpathOf } from "@konverge/apiserver";
import { ApiError, type ApiRequest, type ApiResponse, badRequest, type HeaderMap } from "@konverge/core";
import type { Pod } from "@konverge/kinds";
import { kubeletPage } from "../kubelet/kubelet-api.ts";
import { addressOf, type KubeletClient } from "../real-nodes/kubelet-client.ts";
import { isProxyable } from "../streams/proxyable-address.ts";

/** Headers that are for the API server alone, or about its connection. */
const NOT_PASSED_ON =
  /^(authorization|connection|content-length|host|keep-alive|te|trailer|transfer-encoding|upgrade|:.*)$/;

/** Whether a request is proxied to a kubelet. */
export function isNodeProxied({ group, resource, subresource, namespace, name, verb }: RequestInfo): boolean {
  // What is permitted in a namespace says nothing about nodes.
  const isOfOne = subresource === "proxy" && name !== "" && verb !== "watch" && verb !== "proxy";
  return group === "" && resource === "nodes" && namespace === "" && isOfOne;
}

/**
 * Passes a request on to the kubelet of a node: `nodes/NAME/proxy/PATH`. `podsOn` returns the pods of a simulated node.
 * Undefined for nodes that have no kubelet.
 */
export async function proxiedToNode(
  client: KubeletClient,
  podsOn: (node: string) => readonly Pod[] | undefined,
  request: ApiRequest,
  info: RequestInfo,
): Promise<ApiResponse | undefined> {
  const [, scheme = "https", name = "", port = ""] = /^(?:(https?):)?([^:]+)(?::(\d*))?$/.exec(info.name) ?? [];
  const path = subpathOf(info) || "/";
  const node = client.node(name);
  const pods = node ? undefined : podsOn(name);
  if (pods) return kubeletPage(path, pods);
  if (!node) return undefined;
  const kubelet = addressOf(node);
  if (!(await isAllowed(kubelet.host))) throw badRequest("address not allowed");
  if (scheme !== "https" || (port !== "" && Number(port) !== kubelet.port)) {
    throw badRequest(`the proxy of node ${name} leads to its kubelet alone: leave the scheme and the port out`);
  }
  if (request.upgrade) throw badRequest("proxies of the embedded API server pass on requests, not streams");
  const { method, body, signal } = request;
  const query = request.path.includes("?") ? request.path.slice(request.path.indexOf("?")) : "";
  const sent: ApiRequest = {
    method,
    path: path + query,
    headers: passedOn(request.headers),
    ...(body !== undefined && { body }),
    ...(signal && { signal }),
  };
  return client.send(node, sent, (why) => {
    const message = `error trying to reach service: ${why}`;
    return new ApiError({ code: 503, reason: "ServiceUnavailable", message });
  });
}

/** A name is as good as the addresses behind it. */
async function isAllowed(host: string): Promise<boolean> {
  const found = await lookup(host, { all: true }).catch(() => []);
  return found.every(({ address }) => isProxyable(address));
}

function passedOn(headers: HeaderMap): HeaderMap {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !NOT_PASSED_ON.test(name)));
}
