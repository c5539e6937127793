import type { KubeletApi, KubeletRequest } from "@konverge/apiserver";
import { ApiError, type ApiRequest, type ApiResponse, badRequest, readText } from "@konverge/core";
import type { Node } from "@konverge/kinds";
import { asMessages } from "../node-streams/logs.ts";
import type { RealStreams } from "../node-streams/node-streams.ts";
import type { KubeletClient } from "./kubelet-client.ts";

/** The options of a log that kubelets know. */
const LOG_OPTIONS = [
  "follow",
  "previous",
  "timestamps",
  "sinceSeconds",
  "sinceTime",
  "tailLines",
  "limitBytes",
  "stream",
];
/** The streams of a process, as the API calls them and as kubelets do. */
const STREAMS = { stdin: "input", stdout: "output", stderr: "error", tty: "tty" };
const TRUE = new Set(["true", "1", ""]);

/** Answers for pods on real nodes, through their kubelets. */
export function realStreams(client: KubeletClient): RealStreams {
  return (request) => {
    const node = client.node(request.pod.spec.nodeName ?? "");
    return node && kubeletStreams(client, node, request);
  };
}

/** Passes on what only the kubelet of a real node can answer: logs, and streams to what runs in containers. */
function kubeletStreams(client: KubeletClient, node: Node, request: KubeletRequest): ReturnType<KubeletApi> {
  const { action, call, pod, container } = request;
  const { name = "", namespace = "" } = pod.metadata as { name?: string; namespace?: string };
  if (action === "proxy") throw badRequest(`proxy of pod ${name} is answered in front of this server`);
  if (action === "log") return logOf(client, node, request, `/containerLogs/${namespace}/${name}/${container}`);
  const { method, headers, upgrade, tunnel, signal } = call.request;
  if (!upgrade && !tunnel) throw badRequest("Upgrade request required");
  const path =
    action === "portforward" ? `/portForward/${namespace}/${name}` : `/${action}/${namespace}/${name}/${container}`;
  const sent: ApiRequest = {
    method: tunnel ? method : "GET",
    path: withQuery(path, streamQuery(request)),
    headers: tunnel ? headers : {},
    ...(tunnel ? { tunnel } : upgrade && { upgrade }),
    ...(signal && { signal }),
  };
  return client.send(node, sent, (why) => new ApiError({ code: 500, message: `error dialing backend: ${why}` }));
}

const withQuery = (path: string, query: URLSearchParams) => (query.size === 0 ? path : `${path}?${query}`);

function streamQuery({ action, call }: KubeletRequest): URLSearchParams {
  const { query } = call.info;
  const asked = new URLSearchParams();
  if (action === "portforward") {
    const ports = query.getAll("ports");
    if (ports.length > 0) asked.set("port", ports.join(","));
    return asked;
  }
  for (const [ours, theirs] of Object.entries(STREAMS)) {
    const value = query.get(ours);
    if (value !== null && TRUE.has(value)) asked.set(theirs, "1");
  }
  if (action === "exec") for (const word of query.getAll("command")) asked.append("command", word);
  return asked;
}

async function logOf(
  client: KubeletClient,
  node: Node,
  { call, pod }: KubeletRequest,
  path: string,
): Promise<ApiResponse> {
  const asked = new URLSearchParams();
  for (const option of LOG_OPTIONS) {
    const value = call.info.query.get(option);
    if (value !== null) asked.set(option, value);
  }
  const { signal, upgrade } = call.request;
  const sent = { method: "GET", path: withQuery(path, asked), headers: {}, ...(signal && { signal }) };
  const unreachable = (why: string, url: string) => new ApiError({ code: 500, message: `Get "${url}": ${why}` });
  const response = await client.send(node, sent, unreachable);
  if (response.status < 200 || response.status > 206) throw await refused(response, `${pod.metadata.name}`);
  return asMessages({ ...response, headers: { "content-type": "text/plain" } }, upgrade);
}

/** What a kubelet says is wrong, as an API server passes it on. */
async function refused({ status: code, body }: ApiResponse, pod: string): Promise<ApiError> {
  const text = (await readText(body)).trim();
  if (code === 400) return badRequest(text);
  if (code === 500) {
    return new ApiError({ code, reason: "InternalError", message: `Internal error occurred: ${text}` });
  }
  const said =
    code === 404
      ? "the server could not find the requested resource"
      : `the server responded with the status code ${code} but did not return more information`;
  return new ApiError({ code, reason: code === 404 ? "NotFound" : "", message: `${said} ( pods/log ${pod})` });
}
