import { Agent, type RequestOptions, request } from "node:https";
import type { HeaderMap, Transport } from "@konverge/core";

/** As little of a client's transport as tests need that want to see every request on its way. */
export function httpsTransport(url: string, tls: { ca: string; cert: string; key: string }): Transport {
  const { hostname, port } = new URL(url);
  const agent = new Agent({ keepAlive: true, ...tls });
  return ({ method, path, headers, body, signal }) =>
    new Promise((resolve, reject) => {
      // Node counts the bytes by itself only for methods that usually have a body.
      const length = body === undefined ? {} : { "content-length": Buffer.byteLength(body) };
      const allHeaders = { ...headers, ...length } as RequestOptions["headers"];
      const sent = { hostname, port, method, path, agent, signal, headers: allHeaders };
      const outgoing = request(sent, (answer) => {
        answer.on("error", () => {});
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers as HeaderMap, body: answer });
      });
      outgoing.on("error", reject);
      outgoing.end(body);
    });
}
