/**
 * The API that a kubelet serves on its port. As with the defaults of its configuration file, it rejects anonymous
 * requests: the API server reviews the token and the access of its user (`nodes/metrics`, `nodes/proxy` …).
 */
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Client } from "@konverge/client";
import type { ApiResponse } from "@konverge/core";
import { type Pod, SubjectAccessReview, TokenReview } from "@konverge/kinds";

/** The port of a kubelet's API. */
export const KUBELET_PORT = 10_250;

/** The node whose kubelet answers. */
export interface KubeletApiOptions {
  readonly node: string;
  readonly client: Client;
  pods(): readonly Pod[];
}

/** Paths with a dedicated subresource of nodes; all others require `proxy`. */
const SUBRESOURCES: readonly (readonly [path: string, subresource: string])[] = [
  ["/stats", "stats"],
  ["/metrics", "metrics"],
  ["/logs", "log"],
  ["/checkpoint", "checkpoint"],
];
const VERBS: Readonly<Record<string, string>> = {
  POST: "create",
  GET: "get",
  HEAD: "get",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
};

/** Answers the requests to a kubelet's port. */
export function kubeletApi(options: KubeletApiOptions): RequestListener {
  return (request, response) => {
    answer(options, request, response).catch((error: unknown) => {
      text(response, 500, error instanceof Error ? error.message : String(error));
    });
  };
}

async function answer(options: KubeletApiOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { client, node } = options;
  const token = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? "")?.[1];
  const review = token ? (await client.create(TokenReview, { spec: { token } } as never)).status : undefined;
  if (!review?.authenticated) return text(response, 401, "Unauthorized");
  const { pathname } = new URL(request.url ?? "/", "https://kubelet");
  const verb = VERBS[request.method ?? ""] ?? "";
  const subresource =
    SUBRESOURCES.find(([path]) => pathname === path || pathname.startsWith(`${path}/`))?.[1] ?? "proxy";
  const { username: user = "", uid, groups, extra } = review.user ?? {};
  const resourceAttributes = { verb, version: "v1", resource: "nodes", subresource, name: node };
  const spec = { user, uid, groups, extra, resourceAttributes };
  const { status } = await client.create(SubjectAccessReview, { spec } as never);
  if (!status?.allowed) {
    const what = `user=${user}, verb=${verb}, resource=nodes, subresource(s)=[${subresource}]`;
    return text(response, 403, `Forbidden (${what})`);
  }
  const page = kubeletPage(pathname, options.pods());
  response.writeHead(page.status, page.headers as Record<string, string>);
  response.end(page.body);
}

/** What a kubelet answers to a request that is allowed: its health and its pods. */
export function kubeletPage(path: string, pods: readonly Pod[]): ApiResponse {
  const asked = path.replace(/\/$/, "");
  if (asked === "/healthz") return { status: 200, headers: PLAIN, body: "ok" };
  if (asked === "/pods" || asked === "/runningpods") {
    const items = asked === "/pods" ? pods : pods.filter(({ status }) => status?.phase === "Running");
    const list = { kind: "PodList", apiVersion: "v1", metadata: {}, items };
    return { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(list) };
  }
  return { status: 404, headers: PLAIN, body: "404 page not found\n" };
}

const PLAIN = { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" };

function text(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, PLAIN);
  response.end(`${message}\n`);
}
