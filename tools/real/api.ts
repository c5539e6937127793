import { request } from "node:https";

/** Just enough of a client to wait for the server and to create nodes; tests bring the client they test. */
export interface AdminApi {
  url: string;
  ca: string;
  token: string;
}

export interface AdminAnswer {
  status: number;
  body: string;
}

export function call(
  api: AdminApi,
  method: string,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<AdminAnswer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      new URL(path, api.url),
      {
        method,
        ca: api.ca,
        agent: false,
        timeout: 30_000,
        headers: { authorization: `Bearer ${api.token}`, "content-type": "application/json", ...headers },
      },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
        incoming.on("end", () =>
          resolve({ status: incoming.statusCode ?? 0, body: Buffer.concat(chunks).toString("utf8") }),
        );
        incoming.on("error", reject);
      },
    );
    outgoing.on("timeout", () => outgoing.destroy(new Error(`no answer from ${api.url}${path} within 30 s`)));
    outgoing.on("error", reject);
    outgoing.end(body && JSON.stringify(body));
  });
}
