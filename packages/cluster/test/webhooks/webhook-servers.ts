import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Duplex, Transform } from "node:stream";
import { createServer, type TLSSocket } from "node:tls";
import { pem } from "@konverge/certificates";
import { type Made, type Making, make } from "@konverge/certificates/make-certificate";

const LONG = { from: "2020-01-01", until: "2120-01-01" };

/** What a webhook server has received, once it is decrypted. */
export interface Received {
  bytes: number;
  urls: string[];
  hosts: string[];
}

/** A webhook server that admits everything. */
export interface WebhookServer extends Disposable {
  readonly received: Received;
  readonly url: string;
}

export async function webhookServer(chain: readonly Made[]): Promise<WebhookServer> {
  const received: Received = { bytes: 0, urls: [], hosts: [] };
  const key = chain[0]!.keys.privateKey.export({ type: "pkcs8", format: "pem" }) as string;
  const sockets: TLSSocket[] = [];
  const http = createHttpServer(async (request, response) => {
    received.urls.push(request.url!);
    received.hosts.push(request.headers.host!);
    const { apiVersion, kind, request: asked } = JSON.parse(await new Response(request as never).text());
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ apiVersion, kind, response: { uid: asked.uid, allowed: true } }));
  });
  const server = createServer({ cert: pemOf(chain), key }, (socket) => {
    sockets.push(socket.on("error", () => {}));
    // HTTP over a separate stream, since the bytes of a TLS server's sockets cannot be counted.
    const counted = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        received.bytes += chunk.length;
        done(null, chunk);
      },
    });
    const stream = Duplex.from({ readable: socket.pipe(counted), writable: socket });
    http.emit(
      "connection",
      stream.on("error", () => {}),
    );
  });
  server.on("tlsClientError", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    received,
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.dispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

const pemOf = (list: readonly Made[]) => list.map(({ raw }) => pem("CERTIFICATE", raw)).join("");

/** Certificates as a configuration has them. */
export const bundleOf = (...list: Made[]) => Buffer.from(pemOf(list)).toString("base64");

export const authority = (making: Making = {}) => make({ subject: "hooks", ca: true, ...LONG, ...making });
export const below = (issuer: Made, making: Making) => make({ ca: true, issuer, ...LONG, ...making });
export const serving = (issuer: Made, making: Making = {}) =>
  make({ hosts: ["127.0.0.1", "localhost"], issuer, ...LONG, ...making });

/** A webhook server's certificates, and what its callers are to trust. */
export interface WebhookCase {
  readonly title: string;
  readonly chain: readonly Made[];
  readonly caBundle: string;
}

/** Webhooks that a real API server calls, although OpenSSL would not. */
export function trustedWebhooks(): WebhookCase[] {
  const root = authority();
  const knative = authority({ subject: "webhook.knative.svc", usages: [0, 5] });
  const ofKnative = serving(knative, { subject: knative.subject, issuerKeyId: false, usages: [0, 2] });
  const own = serving(authority());
  const first = below(root, { subject: "first" });
  const second = below(first, { subject: "second", issuerKeyId: Buffer.from("other") });
  const last = serving(second, { issuerKeyId: Buffer.from("another") });
  const one = (title: string, chain: Made[], ...bundle: Made[]) => ({ title, chain, caBundle: bundleOf(...bundle) });
  return [
    one("has the subject of its issuer and no key identifier, as knative's", [ofKnative], knative),
    one("is itself the caBundle, as envtest's", [own], own),
    one("comes with intermediates in any order, of other key identifiers", [last, first, root, second], root),
  ];
}

/** Webhooks that are not to be called, and why. */
export function refusedWebhooks(): (WebhookCase & { readonly problem: RegExp })[] {
  const root = authority();
  const other = authority({ subject: "another" });
  const one = (title: string, making: Making | Made[], problem: string, bundle = root) => {
    const chain = Array.isArray(making) ? making : [serving(root, making)];
    return { title, chain, caBundle: bundleOf(bundle), problem: new RegExp(`^${problem}$`) };
  };
  const unknown = "x509: certificate signed by unknown authority";
  const time = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`;
  return [
    one("is of another authority", {}, unknown, other),
    one(
      "is of an authority of the same name",
      {},
      String.raw`${unknown} \(possibly because of "x509: ECDSA verification failure" while trying to verify candidate authority certificate "hooks"\)`,
      authority(),
    ),
    one("comes without its intermediate", [serving(below(root, { subject: "first" }))], unknown),
    one(
      "is for another address",
      { hosts: ["10.0.0.1", "a.example.com"] },
      "x509: certificate is valid for 10.0.0.1, not 127.0.0.1",
    ),
    one(
      "is for names alone",
      { hosts: ["localhost"] },
      "x509: cannot validate certificate for 127.0.0.1 because it doesn't contain any IP SANs",
    ),
    one(
      "has a common name alone",
      { hosts: [], subject: "127.0.0.1" },
      "x509: certificate relies on legacy Common Name field, use SANs instead",
    ),
    one(
      "has expired",
      { until: "2021-01-01" },
      `x509: certificate has expired or is not yet valid: current time ${time} is after 2021-01-01T00:00:00Z`,
    ),
    one("is for clients", { purposes: ["1.3.6.1.5.5.7.3.2"] }, "x509: certificate specifies an incompatible key usage"),
  ];
}
