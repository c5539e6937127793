import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import type { CallWebhook } from "@konverge/apiserver";

/** Answers that are longer are no reviews. */
const LARGEST = 8 * 1024 * 1024;

/**
 * Reaches webhooks at their URLs, over real sockets. Those behind a Service cannot be reached: simulated pods listen on no
 * port of this machine.
 */
export const callWebhook: CallWebhook = async ({ url, service, caBundle }, review, { timeoutMs }) => {
  if (!url) {
    const name = service ? `${service.namespace}/${service.name}` : "of the webhook";
    throw new Error(
      `no endpoints available for service "${name}": give the webhook a url, simulated pods have no ports`,
    );
  }
  const body = JSON.stringify(review);
  const send = url.startsWith("http:") ? httpRequest : httpsRequest;
  return new Promise((resolve, reject) => {
    const outgoing = send(url, {
      method: "POST",
      headers: { "content-type": "application/json", "content-length": Buffer.byteLength(body) },
      ...(caBundle && { ca: Buffer.from(caBundle, "base64") }),
      signal: AbortSignal.timeout(timeoutMs),
      agent: false,
    });
    outgoing.once("error", (error) =>
      reject(error.name === "TimeoutError" ? new Error("context deadline exceeded") : error),
    );
    outgoing.once("response", (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size > LARGEST) outgoing.destroy(new Error("the webhook's answer is too long"));
        else chunks.push(chunk);
      });
      response.once("error", reject);
      response.once("end", () => {
        const text = Buffer.concat(chunks).toString("utf8");
        if (response.statusCode !== 200)
          return reject(new Error(`the server answered ${response.statusCode}: ${text}`));
        try {
          resolve(JSON.parse(text));
        } catch (error) {
          reject(error);
        }
      });
    });
    outgoing.end(body);
  });
};
