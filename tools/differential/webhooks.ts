import type { IncomingMessage, ServerResponse } from "node:http";
import { Agent, createServer, request as httpsRequest } from "node:https";
import type { AddressInfo } from "node:net";
import type { CallWebhook } from "@konverge/apiserver";
import { CERTIFICATE, KEY } from "./webhook-certificate.ts";
import { type AdmissionReview, admit } from "./webhooks-admission.ts";
import { type ConversionReview, convert } from "./webhooks-conversion.ts";

/**
 * The webhooks that scripts may register: `$webhooks/convert/...` and `$webhooks/admit/...`, with `$caBundle`. Both servers
 * call the same ones; what each does is said by its path (see webhooks-admission.ts and webhooks-conversion.ts).
 */
export interface Webhooks extends AsyncDisposable {
  readonly url: string;
  readonly caBundle: string;
}

export async function startWebhooks(): Promise<Webhooks> {
  const server = createServer({ cert: CERTIFICATE, key: KEY }, (request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://127.0.0.1:${port}`,
    caBundle: Buffer.from(CERTIFICATE).toString("base64"),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk;
  const [, kind, behavior = ""] = new URL(request.url!, "https://127.0.0.1").pathname.split("/");
  if (behavior === "broken") {
    response.writeHead(500, { "content-type": "text/plain" }).end("it is broken");
    return;
  }
  if (behavior === "garbage") {
    response.writeHead(200, { "content-type": "application/json" }).end("{");
    return;
  }
  const review = JSON.parse(text) as ConversionReview & AdmissionReview;
  const answered = kind === "convert" ? convert(behavior, review) : admit(behavior, review);
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answered));
}

/** How the embedded server reaches webhooks here; errors are worded as Go's HTTP client words them. */
export const callWebhook: CallWebhook = ({ url, service, caBundle }, review, { timeoutMs }) => {
  const parameters = `?timeout=${timeoutMs / 1000}s`;
  if (!url) {
    const { name, namespace, port = 443, path = "/" } = service!;
    const address = `https://${name}.${namespace}.svc:${port}${path}${parameters}`;
    return Promise.reject(new Error(`Post ${JSON.stringify(address)}: service ${JSON.stringify(name)} not found`));
  }
  const body = JSON.stringify(review);
  const target = url + parameters;
  const agent = new Agent({ ca: caBundle ? Buffer.from(caBundle, "base64") : undefined });
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) };
    const outgoing = httpsRequest(target, { method: "POST", headers, agent, timeout: timeoutMs }, (incoming) => {
      let text = "";
      incoming.setEncoding("utf8");
      incoming.on("data", (chunk: string) => (text += chunk));
      incoming.on("end", () => {
        if (incoming.statusCode !== 200) reject(new Error(goError(text)));
        else {
          try {
            resolve(JSON.parse(text));
          } catch {
            reject(new Error("couldn't get version/kind; json parse error: unexpected end of JSON input"));
          }
        }
      });
    });
    outgoing.on("timeout", () => outgoing.destroy(new Error("context deadline exceeded")));
    outgoing.on("error", (error: NodeJS.ErrnoException) => {
      const { host } = new URL(target);
      const why = error.code === "ECONNREFUSED" ? `dial tcp ${host}: connect: connection refused` : error.message;
      reject(new Error(`Post ${JSON.stringify(target)}: ${why}`));
    });
    outgoing.end(body);
  });
};

/** How client-go words an answer that is none. */
function goError(text: string): string {
  return `an error on the server (${JSON.stringify(text)}) has prevented the request from succeeding`;
}
