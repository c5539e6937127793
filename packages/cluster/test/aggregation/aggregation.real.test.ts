import assert from "node:assert/strict";
import { Agent, request as httpsRequest } from "node:https";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type Cluster, startCluster } from "@konverge/cluster";
import { type ApiRequest, readText } from "@konverge/core";
import { findControlPlane, type RealCluster, startRealCluster } from "@konverge/real";
import { extensionServer, GROUP } from "./extension-server.ts";

type Send = (request: Omit<ApiRequest, "headers"> & { headers?: Record<string, string> }) => Promise<Answer>;

interface Answer {
  readonly status: number;
  readonly text: string;
}

const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices";
const HEADERS = ["x-remote-user", "x-remote-group", "x-remote-uid", "x-forwarded-uri", "x-forwarded-proto", "x-mine"];

/** Registers another server, and resolves with its condition once that is final. */
async function registered(send: Send, json: Record<string, string>, server: { port: number; caBundle: string }) {
  const post = (path: string, body: object) =>
    send({ method: "POST", path, headers: json, body: JSON.stringify(body) });
  await post("/api/v1/namespaces/default/services", {
    metadata: { name: "extension" },
    spec: { type: "ExternalName", externalName: "localhost" },
  });
  await post(SERVICES, {
    metadata: { name: `v1.${GROUP}` },
    spec: {
      group: GROUP,
      version: "v1",
      groupPriorityMinimum: 2000,
      versionPriority: 10,
      service: { namespace: "default", name: "extension", port: server.port },
      caBundle: server.caBundle,
    },
  });
  return until(async () => {
    const { text } = await send({ method: "GET", path: `${SERVICES}/v1.${GROUP}` });
    const { lastTransitionTime: _, ...rest } = JSON.parse(text).status.conditions?.[0] ?? {};
    return rest.reason === "Passed" || rest.reason === "FailedDiscoveryCheck" ? rest : undefined;
  });
}

async function until<T>(read: () => Promise<T | undefined>): Promise<T> {
  for (let tries = 0; tries < 300; tries++) {
    const found = await read();
    if (found !== undefined) return found;
    await sleep(200);
  }
  throw new Error("it did not come within a minute");
}

/** The requests and responses of a server that proxies to an extension server, as both sides observe them. */
async function story(send: Send, json: Record<string, string>) {
  const extension = await extensionServer();
  try {
    const condition = await registered(send, json, extension);
    const get = (path: string, headers: Record<string, string> = {}) => send({ method: "GET", path, headers });
    const discovered = await until(async () => {
      const { items } = JSON.parse((await get("/apis", { accept: AGGREGATED })).text);
      const found = items.find(({ metadata }: { metadata: { name: string } }) => metadata.name === GROUP);
      return found?.versions[0].freshness === "Current" ? found.versions : undefined;
    });
    const list = await until(async () => {
      const answer = await get(`/apis/${GROUP}/v1/namespaces/default/reports?limit=5`, {
        "x-remote-user": "somebody",
        "x-mine": "yes",
      });
      return answer.status === 200 ? answer : undefined;
    });
    const forwarded = extension.requests.findLast(({ url }) => url.includes("/reports"))!;
    const group = JSON.parse((await get(`/apis/${GROUP}`)).text);
    const missing = await get(`/apis/${GROUP}/v1/nothing`);
    const openApi = await until(async () => {
      const { paths } = JSON.parse((await get("/openapi/v3")).text);
      return paths[`apis/${GROUP}/v1`] && (await get(`/openapi/v3/apis/${GROUP}/v1`));
    });
    return {
      condition,
      discovered,
      group,
      list: JSON.parse(list.text),
      missing: missing.status,
      openApi: openApi.status,
      url: forwarded.url,
      headers: Object.fromEntries(HEADERS.map((name) => [name, forwarded.headers[name]])),
    };
  } finally {
    extension.close();
  }
}

function realSend({ url, ca, adminToken }: RealCluster): Send {
  const agent = new Agent({ ca });
  return ({ method, path, headers = {}, body }) =>
    new Promise((resolve, reject) => {
      const sent = { ...headers, authorization: `Bearer ${adminToken}` };
      const outgoing = httpsRequest(url + path, { method, headers: sent, agent }, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
      });
      outgoing.on("error", reject);
      outgoing.end(body);
    });
}

function embeddedSend({ server }: Cluster): Send {
  const groups = ["system:masters", "system:authenticated"];
  const transport = server.as({ name: "admin", uid: "admin", groups });
  return async (request) => {
    const { status, body } = await transport({ headers: {}, ...request });
    return { status, text: await readText(body) };
  };
}

const plane = findControlPlane();
const options = { skip: plane.available ? false : plane.why, timeout: 180_000 };

test("an aggregated API server gets the same requests and responses as behind a real API server", options, async () => {
  const json = { "content-type": "application/json" };
  await using real = await startRealCluster();
  const theirs = await story(realSend(real), json);
  await using cluster = await startCluster({ parts: [] });
  const ours = await story(embeddedSend(cluster), json);
  assert.deepEqual(ours, theirs);
});

test("another API server with a certificate that is not trusted is refused as by a real one", options, async () => {
  const json = { "content-type": "application/json" };
  const [extension, stranger] = [await extensionServer(), await extensionServer()];
  try {
    const server = { port: extension.port, caBundle: stranger.caBundle };
    await using real = await startRealCluster();
    const theirs = await registered(realSend(real), json, server);
    await using cluster = await startCluster({ parts: [] });
    assert.deepEqual(await registered(embeddedSend(cluster), json, server), theirs);
    assert.match(theirs.message, /tls: failed to verify certificate: x509: certificate signed by unknown authority/);
    assert.deepEqual(extension.requests, []);
  } finally {
    extension.close();
    stranger.close();
  }
});
