import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiServer } from "@konverge/apiserver";
import { Client } from "@konverge/client";
import { ApiError } from "@konverge/core";
import { ConfigMap, CustomResourceDefinition, ValidatingWebhookConfiguration } from "@konverge/kinds";
import {
  authority,
  bundleOf,
  refusedWebhooks,
  serving,
  trustedWebhooks,
  webhookServer,
} from "../../test/webhooks/webhook-servers.ts";
import { callWebhook } from "./call-webhook.ts";

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

for (const { title, chain, caBundle } of trustedWebhooks()) {
  test(`a webhook is called if its certificate ${title}`, async () => {
    using server = await webhookServer(chain);
    assert.equal(await admitted({ url: server.url, caBundle }), undefined);
    assert.ok(server.received.bytes > 0);
  });
}

for (const { title, chain, caBundle, problem } of refusedWebhooks()) {
  test(`a webhook is not called, and receives nothing, if its certificate ${title}`, async () => {
    using server = await webhookServer(chain);
    const message = (await admitted({ url: server.url, caBundle }))!;
    const prefix =
      'Internal error occurred: failed calling webhook "hook.example.com": failed to call webhook: ' +
      `Post "${server.url}/?timeout=10s": tls: failed to verify certificate: `;
    assert.equal(message.slice(0, prefix.length), prefix);
    assert.match(message.slice(prefix.length), problem);
    assert.deepEqual(server.received, { bytes: 0, urls: [], hosts: [] });
  });
}

test("a webhook receives the timeout, and the host as it is configured", async () => {
  const root = authority();
  using server = await webhookServer([serving(root)]);
  const named = server.url.replace("127.0.0.1", "LocalHost");
  assert.equal(await admitted({ url: `${named}//a//b/`, caBundle: bundleOf(root) }), undefined);
  assert.deepEqual(server.received.urls, ["/a/b?timeout=10s"]);
  assert.deepEqual(server.received.hosts, [named.replace("https://", "")]);
});

test("without a caBundle the authorities of the machine are trusted, and no others", async () => {
  using server = await webhookServer([serving(authority())]);
  const message = (await admitted({ url: server.url }))!;
  assert.match(message, /: tls: failed to verify certificate: x509: certificate signed by unknown authority$/);
  assert.equal(server.received.bytes, 0);
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
  using server = await webhookServer([serving(authority())]);
  const client = new Client(new ApiServer({ callWebhook }).transport);
  const version = (name: string, storage: boolean) => {
    return { name, served: true, storage, schema: { openAPIV3Schema: { type: "object" } } };
  };
  const clientConfig = { url: server.url, caBundle: bundleOf(authority({ subject: "another" })) };
  await client.create(CustomResourceDefinition, {
    metadata: { name: "things.example.com" },
    spec: {
      group: "example.com",
      names: { plural: "things", kind: "Thing" },
      scope: "Cluster",
      versions: [version("v1", true), version("v2", false)],
      conversion: { strategy: "Webhook", webhook: { clientConfig, conversionReviewVersions: ["v1"] } },
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
        `conversion webhook for example.com/v2, Kind=Thing failed: Post "${server.url}/?timeout=30s": ` +
        "tls: failed to verify certificate: x509: certificate signed by unknown authority",
    },
  );
  assert.equal(server.received.bytes, 0);
});
