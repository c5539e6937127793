import { Agent, request as httpsRequest } from "node:https";
import { ApiServer } from "@konverge/apiserver";
import type { ApiRequest, ApiResponse, HeaderMap, Transport } from "@konverge/core";
import { startRealCluster } from "@konverge/real";

/** A server that scripts are played on. */
export interface Target extends AsyncDisposable {
  readonly name: "real" | "embedded";
  readonly transport: Transport;
}

export async function realTarget(): Promise<Target> {
  const cluster = await startRealCluster();
  const agent = new Agent({ keepAlive: true, ca: cluster.ca });
  return {
    name: "real",
    transport: (request) => send(cluster.url, agent, cluster.adminToken, request),
    async [Symbol.asyncDispose]() {
      agent.destroy();
      await cluster.stop();
    },
  };
}

export async function embeddedTarget(): Promise<Target> {
  const server = new ApiServer();
  return {
    name: "embedded",
    transport: server.transport,
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
