import assert from "node:assert/strict";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Duplex, Transform } from "node:stream";
import { after, test } from "node:test";
import { createServer, type Server, type TLSSocket } from "node:tls";
import { ApiServer } from "@konverge/apiserver";
import { pem } from "@konverge/certificates";
import { type Made, type Making, make } from "@konverge/certificates/make-certificate";
import { Client } from "@konverge/client";
import { ApiError } from "@konverge/core";
import { ConfigMap, CustomResourceDefinition, ValidatingWebhookConfiguration } from "@konverge/kinds";
import { callWebhook } from "./call-webhook.ts";

const LONG = { from: "2020-01-01", until: "2120-01-01" };
const HOSTS = ["127.0.0.1", "localhost"];
const [servers, sockets]: [Server[], TLSSocket[]] = [[], []];
after(() => {
  for (const server of servers) server.close();
  for (const socket of sockets) socket.destroy();
});

/** A webhook server that admits everything, with what it has received: bytes of requests, once they are decrypted. */
async function webhookServer(chain: readonly Made[]) {
  const received = { bytes: 0, urls: [] as string[], hosts: [] as string[] };
  const key = chain[0]!.keys.privateKey.export({ type: "pkcs8", format: "pem" }) as string;
  const http = createHttpServer(async (request, response) => {
    received.urls.push(request.url!);
    received.hosts.push(request.headers.host!);
    const { apiVersion, kind, request: asked } = JSON.parse(await new Response(request as never).text());
    response.end(JSON.stringify({ apiVersion, kind, response: { uid: asked.uid, allowed: true } }));
  });
  const server = createServer({ cert: pemOf(chain), key }, (socket) => {
    sockets.push(socket.on("error", () => {}));
    const counted = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        received.bytes += chunk.length;
        done(null, chunk);
      },
    });
    http.emit(
      "connection",
      Duplex.from({ readable: socket.pipe(counted), writable: socket }).on("error", () => {}),
    );
  });
  server.on("tlsClientError", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  servers.push(server);
  return { received, url: `https://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const pemOf = (list: readonly Made[]) => list.map(({ raw }) => pem("CERTIFICATE", raw)).join("");
const bundleOf = (...list: Made[]) => Buffer.from(pemOf(list)).toString("base64");

/** Creates an object that a webhook has to admit; what the API server says if it does not. */
async function admitted(clientConfig: { url: string; caBundle?: string }): Promise<string | undefined> {
  const client = new Client(new ApiServer({ callWebhook }).transport);
  await client.create(ValidatingWebhookConfiguration, {
    metadata: { name: "hooks" },
    webhooks: [
      {
        name: "hook.example.com",
        clientConfig,
        rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
        admissionReviewVersions: ["v1"],
        sideEffects: "None",
      },
    ],
  });
  try {
    await client.create(ConfigMap, { metadata: { name: "a", namespace: "default" } });
    return undefined;
  } catch (error) {
    assert.ok(error instanceof ApiError);
    return error.message;
  }
}

const authority = (making: Making = {}) => make({ subject: "hooks", ca: true, ...LONG, ...making });
const serving = (issuer: Made, making: Making = {}) => make({ hosts: HOSTS, issuer, ...LONG, ...making });

test("a webhook whose certificate has the subject of its issuer and no key identifier is called", async () => {
  const root = authority({ subject: "webhook.knative.svc", usages: [0, 5] });
  const leaf = serving(root, { subject: root.subject, issuerKeyId: false, usages: [0, 2] });
  const { received, url } = await webhookServer([leaf]);
  assert.equal(await admitted({ url, caBundle: bundleOf(root) }), undefined);
  assert.ok(received.bytes > 0);
});

test("a webhook whose own certificate is the caBundle is called", async () => {
  const leaf = serving(authority());
  const { url } = await webhookServer([leaf]);
  assert.equal(await admitted({ url, caBundle: bundleOf(leaf) }), undefined);
});

test("intermediates may be sent in any order, with key identifiers that do not match", async () => {
  const root = authority();
  const first = make({ subject: "first", ca: true, issuer: root, ...LONG });
  const second = make({ subject: "second", ca: true, issuer: first, issuerKeyId: Buffer.from("other"), ...LONG });
  const { url } = await webhookServer([serving(second, { issuerKeyId: Buffer.from("another") }), first, root, second]);
  assert.equal(await admitted({ url, caBundle: bundleOf(root) }), undefined);
});

test("a webhook receives the timeout, and the host as it is configured", async () => {
  const root = authority();
  const { received, url } = await webhookServer([serving(root)]);
  const named = url.replace("127.0.0.1", "LocalHost");
  assert.equal(await admitted({ url: `${named}/a//b/`, caBundle: bundleOf(root) }), undefined);
  assert.deepEqual(received.urls, ["/a/b?timeout=10s"]);
  assert.deepEqual(received.hosts, [new URL(url).host.replace("127.0.0.1", "LocalHost")]);
});

const root = authority();
const other = authority({ subject: "another" });
const refusals: [title: string, chain: Made[], bundle: Made, problem: RegExp | string][] = [
  ["of another authority", [serving(root)], other, "x509: certificate signed by unknown authority"],
  [
    "of an authority of the same name",
    [serving(root)],
    authority(),
    'x509: certificate signed by unknown authority (possibly because of "x509: ECDSA verification failure" while trying to verify candidate authority certificate "hooks")',
  ],
  [
    "without its intermediate",
    [serving(make({ subject: "m", ca: true, issuer: root, ...LONG }))],
    root,
    "x509: certificate signed by unknown authority",
  ],
  [
    "for another address",
    [serving(root, { hosts: ["10.0.0.1", "a.example.com"] })],
    root,
    "x509: certificate is valid for 10.0.0.1, not 127.0.0.1",
  ],
  [
    "for names alone",
    [serving(root, { hosts: ["localhost"] })],
    root,
    "x509: cannot validate certificate for 127.0.0.1 because it doesn't contain any IP SANs",
  ],
  [
    "with a common name alone",
    [serving(root, { hosts: [], subject: "127.0.0.1" })],
    root,
    "x509: certificate relies on legacy Common Name field, use SANs instead",
  ],
  [
    "that has expired",
    [serving(root, { until: "2021-01-01" })],
    root,
    /^x509: certificate has expired or is not yet valid: current time \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ is after 2021-01-01T00:00:00Z$/,
  ],
  [
    "for clients",
    [serving(root, { purposes: ["1.3.6.1.5.5.7.3.2"] })],
    root,
    "x509: certificate specifies an incompatible key usage",
  ],
];

for (const [title, chain, bundle, expected] of refusals) {
  test(`a webhook with a certificate ${title} is not called, and receives nothing`, async () => {
    const { received, url } = await webhookServer(chain);
    const message = (await admitted({ url, caBundle: bundleOf(bundle) }))!;
    const prefix =
      'Internal error occurred: failed calling webhook "hook.example.com": failed to call webhook: ' +
      `Post "${url}/?timeout=10s": tls: failed to verify certificate: `;
    assert.equal(message.slice(0, prefix.length), prefix);
    if (typeof expected === "string") assert.equal(message.slice(prefix.length), expected);
    else assert.match(message.slice(prefix.length), expected);
    assert.deepEqual(received, { bytes: 0, urls: [], hosts: [] });
  });
}

test("a webhook with a certificate that nobody on this machine vouches for is not called without a caBundle", async () => {
  const { received, url } = await webhookServer([serving(root)]);
  assert.match(
    (await admitted({ url }))!,
    /tls: failed to verify certificate: x509: certificate signed by unknown authority$/,
  );
  assert.equal(received.bytes, 0);
});

test("a caBundle that cannot be read is reported before anything is dialed", async () => {
  const caBundle = Buffer.from("not PEM").toString("base64");
  assert.equal(
    await admitted({ url: "https://127.0.0.1:1", caBundle }),
    'Internal error occurred: failed calling webhook "hook.example.com": could not get REST client: ' +
      "unable to load root certificates: unable to parse bytes as PEM block",
  );
});

test("a conversion webhook is verified in the same way", async () => {
  const { received, url } = await webhookServer([serving(root)]);
  const server = new ApiServer({ callWebhook });
  const client = new Client(server.transport);
  const version = (name: string, storage: boolean) => {
    const schema = { openAPIV3Schema: { type: "object" } };
    return { name, served: true, storage, schema };
  };
  await client.create(CustomResourceDefinition, {
    metadata: { name: "things.example.com" },
    spec: {
      group: "example.com",
      names: { plural: "things", kind: "Thing" },
      scope: "Cluster",
      versions: [version("v1", true), version("v2", false)],
      conversion: {
        strategy: "Webhook",
        webhook: { clientConfig: { url, caBundle: bundleOf(other) }, conversionReviewVersions: ["v1"] },
      },
    },
  } as never);
  await assert.rejects(
    client.request({
      method: "POST",
      path: "/apis/example.com/v2/things",
      body: { apiVersion: "example.com/v2", kind: "Thing", metadata: { name: "a" } },
    }),
    {
      message:
        `conversion webhook for example.com/v2, Kind=Thing failed: Post "${url}/?timeout=30s": ` +
        "tls: failed to verify certificate: x509: certificate signed by unknown authority",
    },
  );
  assert.equal(received.bytes, 0);
});
