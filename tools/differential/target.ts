import { Agent, request as httpsRequest } from "node:https";
import { ApiServer } from "@konverge/apiserver";
import type { ApiRequest, ApiResponse, HeaderMap, Transport } from "@konverge/core";
import { startRealCluster } from "@konverge/real";
import { callWebhook } from "./webhooks.ts";

/** A server that scripts are played on. */
export interface Target extends AsyncDisposable {
  readonly name: "real" | "embedded";
  readonly transport: Transport;
  /** Forgets all history before now. */
  compact(): Promise<void>;
}

/** Admission plugins that a server without controllers does not ask by default; both servers do here. */
export const MORE_ADMISSION = [
  "ServiceAccount",
  "NodeRestriction",
  "ExtendedResourceToleration",
  "OwnerReferencesPermissionEnforcement",
];

/** Starts a real control plane. */
export async function realTarget(): Promise<Target> {
  const cluster = await startRealCluster({ admissionPlugins: MORE_ADMISSION });
  const { url, adminToken: token, ca } = cluster;
  return remoteTarget(
    { url, token, ca },
    async () => void (await cluster.etcd.compact()),
    () => cluster.stop(),
  );
}

/** Where a server listens that runs already, and how to get in. */
export interface Address {
  readonly url: string;
  readonly token: string;
  readonly ca: string;
}

/** A server that runs already. Its history cannot be compacted from outside. */
export function remoteTarget({ url, token, ca }: Address, compact = async () => {}, stop = async () => {}): Target {
  const agent = new Agent({ keepAlive: true, ca });
  return {
    name: "real",
    transport: (request) => send(url, agent, token, request),
    compact,
    async [Symbol.asyncDispose]() {
      agent.destroy();
      await stop();
    },
  };
}

/** Who the real server's token belongs to: what a user creates says who it was. */
const SAME_USER = { name: "admin", uid: "admin", groups: ["system:masters", "system:authenticated"] };

/** Makes an embedded server. */
export async function embeddedTarget(): Promise<Target> {
  const server = new ApiServer({ callWebhook, admission: { enable: MORE_ADMISSION } });
  return {
    name: "embedded",
    transport: server.as(SAME_USER),
    async compact() {
      server.store.compact(Number.POSITIVE_INFINITY);
    },
    async [Symbol.asyncDispose]() {
      server.close();
    },
  };
}

/** Deliberately not the project's own client: this is what both servers are judged through. */
function send(url: string, agent: Agent, token: string, request: ApiRequest): Promise<ApiResponse> {
  const headers: Record<string, string | string[]> = { authorization: `Bearer ${token}` };
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers[name] = typeof value === "string" ? value : [...value];
  }
  if (request.body !== undefined) headers["content-length"] = String(Buffer.byteLength(request.body));
  return new Promise((resolve, reject) => {
    const outgoing = httpsRequest(url + request.path, {
      method: request.method,
      headers,
      agent,
      signal: request.signal,
    });
    outgoing.on("error", reject);
    outgoing.on("response", (incoming) => {
      incoming.setEncoding("utf8");
      incoming.on("error", () => {});
      resolve({ status: incoming.statusCode!, headers: headersOf(incoming.headersDistinct), body: incoming });
    });
    outgoing.end(request.body);
  });
}

function headersOf(distinct: NodeJS.Dict<string[]>): HeaderMap {
  return Object.fromEntries(
    Object.entries(distinct).map(([name, values]) => [name, values!.length === 1 ? values![0]! : values]),
  );
}
