import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { callWebhook, startCluster } from "@konverge/cluster";
import { readText } from "@konverge/core";
import { findControlPlane, startRealCluster } from "@konverge/real";
import { call } from "@konverge/real/api.ts";
import { refusedWebhooks, trustedWebhooks, type WebhookServer, webhookServer } from "./webhook-servers.ts";

type Send = (method: string, path: string, body?: object) => Promise<{ status: number; text: string }>;

const plane = findControlPlane();
const options = { skip: plane.available ? false : plane.why, timeout: 180_000 };
const CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";

interface Called {
  readonly title: string;
  readonly clientConfig: object;
}

/** What comes of objects that each have to be admitted by one webhook. */
async function outcomes(send: Send, called: readonly Called[]): Promise<Record<string, string>> {
  const webhooks = called.map(({ clientConfig }, i) => ({
    name: `hook${i}.example.com`,
    clientConfig,
    objectSelector: { matchLabels: { hook: String(i) } },
    rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
    admissionReviewVersions: ["v1"],
    sideEffects: "None",
  }));
  const created = await send("POST", CONFIGURATIONS, { metadata: { name: "hooks" }, webhooks });
  assert.equal(created.status, 201, created.text);
  const create = async (hook: number): Promise<string> => {
    const body = { metadata: { generateName: "a-", labels: { hook: String(hook) } } };
    const { status, text } = await send("POST", "/api/v1/namespaces/default/configmaps", body);
    const { message } = JSON.parse(text) as { message?: string };
    return status === 201 ? "admitted" : `${status} ${message?.replace(/current time \S+/, "current time NOW")}`;
  };
  // A real API server learns of the configuration a little later; the first webhook is one that is refused.
  for (let tries = 0; (await create(0)) === "admitted" && tries < 300; tries++) await sleep(100);
  const found: Record<string, string> = {};
  for (const [i, { title }] of called.entries()) found[title] = await create(i);
  return found;
}

test("webhooks are called and refused as by a real API server, with the same messages", options, async () => {
  const cases = [...refusedWebhooks(), ...trustedWebhooks()];
  const servers: WebhookServer[] = [];
  try {
    const called: Called[] = [];
    for (const { title, chain, caBundle } of cases) {
      const server = await webhookServer(chain);
      servers.push(server);
      called.push({ title, clientConfig: { url: `${server.url}//a/`, caBundle } });
    }
    const { url } = servers[0]!;
    called.push({ title: "no caBundle", clientConfig: { url } });
    const bundle = (text: string) => Buffer.from(text).toString("base64");
    called.push({ title: "no PEM", clientConfig: { url, caBundle: bundle("not PEM") } });
    const key = "-----BEGIN KEY-----\nb25l\n-----END KEY-----\n";
    called.push({ title: "no certificate", clientConfig: { url, caBundle: bundle(key) } });
    const broken = key.replaceAll("KEY", "CERTIFICATE");
    called.push({ title: "a broken certificate", clientConfig: { url, caBundle: bundle(broken) } });

    await using real = await startRealCluster();
    const api = { url: real.url, ca: real.ca, token: real.adminToken };
    const theirs = await outcomes(async (method, path, body) => {
      const { status, body: text } = await call(api, method, path, body);
      return { status, text };
    }, called);
    const received = servers.map((server) => server.received.urls.splice(0));

    await using cluster = await startCluster({ parts: [], server: { callWebhook } });
    const ours = await outcomes(async (method, path, body) => {
      const headers = { "content-type": "application/json" };
      const request = { method, path, headers, ...(body && { body: JSON.stringify(body) }) };
      const response = await cluster.server.transport(request as never);
      return { status: response.status, text: await readText(response.body) };
    }, called);
    assert.deepEqual(ours, theirs);
    assert.deepEqual(
      servers.map((server) => server.received.urls),
      received,
    );
  } finally {
    for (const server of servers) server[Symbol.dispose]();
  }
});
