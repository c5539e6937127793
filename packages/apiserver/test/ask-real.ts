import type { IncomingHttpHeaders } from "node:http";
import { request } from "node:https";
import type { RealCluster } from "@konverge/real";

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Record<string, unknown> & { message?: string };
}

/** How to prove who one is to a real server; nothing at all is possible too. */
export interface Credentials {
  token?: string;
  cert?: string;
  key?: string;
}

/** Asks a real server, by default as its administrator. */
export function askReal(
  cluster: RealCluster,
  method: string,
  path: string,
  options: { body?: object; headers?: Record<string, string | string[]>; as?: Credentials } = {},
): Promise<Answer> {
  const { token, cert, key } = options.as ?? { token: cluster.adminToken };
  return new Promise((resolve, reject) => {
    const outgoing = request(
      new URL(path, cluster.url),
      {
        method,
        ca: cluster.ca,
        cert,
        key,
        agent: false,
        headers: {
          "content-type": "application/json",
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...options.headers,
        },
      },
      (incoming) => {
        let text = "";
        incoming.setEncoding("utf8");
        incoming.on("data", (chunk: string) => {
          text += chunk;
        });
        incoming.on("end", () => {
          const isJson = incoming.headers["content-type"]?.includes("json");
          const { statusCode: status = 0, headers } = incoming;
          resolve({ status, headers, body: isJson ? JSON.parse(text) : { message: text } });
        });
        incoming.on("error", reject);
      },
    );
    outgoing.on("error", reject);
    outgoing.end(options.body && JSON.stringify(options.body));
  });
}
