import { request } from "node:https";
import type { JsonObject } from "@konverge/core";
import type { RealCluster } from "@konverge/real";

/** What a real API server answered. */
export interface RealAnswer {
  status: number;
  body: JsonObject;
}

/** Asks a real API server as its administrator. A body that is no bytes is sent as JSON. */
export function askReal(
  cluster: RealCluster,
  method: string,
  path: string,
  body?: object | Uint8Array,
  contentType = "application/json",
): Promise<RealAnswer> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": contentType, authorization: `Bearer ${cluster.adminToken}` };
    const outgoing = request(
      new URL(path, cluster.url),
      { method, ca: cluster.ca, agent: false, headers },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
        incoming.on("error", reject);
        incoming.on("end", () => {
          const text = Buffer.concat(chunks).toString("utf8");
          const isJson = incoming.headers["content-type"]?.includes("json");
          resolve({ status: incoming.statusCode ?? 0, body: isJson ? JSON.parse(text) : { message: text } });
        });
      },
    );
    outgoing.on("error", reject);
    if (body !== undefined) outgoing.write(body instanceof Uint8Array ? body : JSON.stringify(body));
    outgoing.end();
  });
}
