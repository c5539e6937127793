import assert from "node:assert/strict";
import { connect } from "node:net";
import { test } from "node:test";
import { createAuthority } from "@konverge/apiserver";
import { startCluster } from "@konverge/cluster";
import { readText, realClock } from "@konverge/core";
import { APIService, Deployment, Service } from "@konverge/kinds";
import { extensionServer, GROUP } from "./extension-server.ts";

async function stage() {
  const frontProxy = createAuthority(realClock(), { name: "front-proxy" });
  const extension = await extensionServer(frontProxy.cert);
  const cluster = await startCluster({ frontProxy, rootCertificate: "CLIENT CA" });
  const register = (spec: object) =>
    cluster.client.create(APIService, {
      metadata: { name: `v1.${GROUP}` },
      spec: { group: GROUP, version: "v1", groupPriorityMinimum: 2000, versionPriority: 10, ...spec },
    } as never);
  /** The condition once it says something that the test waits for. */
  const condition = async (reason: string) => {
    for await (const event of cluster.client.watch(APIService)) {
      if (event.type !== "ADDED" && event.type !== "MODIFIED") continue;
      const found = event.object.status?.conditions?.find((one) => one.reason === reason);
      if (found && event.object.metadata.name === `v1.${GROUP}`) return found;
    }
    throw new Error("the watch has ended");
  };
  const get = async (path: string) => {
    const response = await cluster.server.transport({ method: "GET", path, headers: {} });
    return { status: response.status, body: JSON.parse(await readText(response.body)) };
  };
  return {
    ...extension,
    cluster,
    register,
    condition,
    get,
    async [Symbol.asyncDispose]() {
      await cluster.stop();
      extension.close();
    },
  };
}

const BOUND = { timeout: 60_000 };

test("a server at an external name is reached over TLS, and knows who asks through whom", BOUND, async () => {
  await using s = await stage();
  await s.cluster.client.create(Service, {
    metadata: { name: "extension", namespace: "default" },
    spec: { type: "ExternalName", externalName: "localhost" },
  } as never);
  await s.register({ service: { namespace: "default", name: "extension", port: s.port }, caBundle: s.caBundle });
  await s.condition("Passed");
  const { status, body } = await s.get(`/apis/${GROUP}/v1/namespaces/default/reports?limit=3`);
  assert.equal(status, 200);
  assert.equal(body.items[0].metadata.name, "sunny");
  const { url, proxy, headers } = s.requests.at(-1)!;
  assert.equal(url, `/apis/${GROUP}/v1/namespaces/default/reports?limit=3`);
  assert.equal(proxy, "front-proxy-client");
  assert.equal(headers["x-remote-user"], "kubernetes-admin");
});

test(
  "a certificate of an unknown authority makes a server unavailable, unless verification is off",
  BOUND,
  async () => {
    await using s = await stage();
    await s.cluster.client.create(Service, {
      metadata: { name: "extension", namespace: "default" },
      spec: { type: "ExternalName", externalName: "localhost" },
    } as never);
    const service = { namespace: "default", name: "extension", port: s.port };
    await s.register({ service });
    assert.match(
      (await s.condition("FailedDiscoveryCheck")).message ?? "",
      /x509: certificate signed by unknown authority$/,
    );
    await s.cluster.client.patch(APIService, `v1.${GROUP}`, { merge: { spec: { insecureSkipTLSVerify: true } } });
    await s.condition("Passed");
  },
);

test("a server in a pod is reached through its Service's endpoints", BOUND, async () => {
  await using s = await stage();
  s.cluster.image("registry.example.com/extension", {
    connect: async ({ incoming, write, signal }) => {
      const socket = connect(s.port, "127.0.0.1");
      signal.addEventListener("abort", () => socket.destroy());
      socket.on("error", () => {});
      socket.on("data", (data) => write(data));
      for await (const data of incoming) socket.write(data);
      socket.end();
    },
  });
  const labels = { app: "extension" };
  await s.cluster.client.create(Deployment, {
    metadata: { name: "extension", namespace: "default" },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: "server", image: "registry.example.com/extension:1" }] },
      },
    },
  } as never);
  await s.cluster.client.create(Service, {
    metadata: { name: "extension", namespace: "default" },
    spec: { selector: labels, ports: [{ port: 443, targetPort: 8443 }] },
  } as never);
  await s.register({ service: { namespace: "default", name: "extension" }, caBundle: s.caBundle });
  await s.condition("Passed");
  assert.equal((await s.get(`/apis/${GROUP}/v1/reports`)).body.items[0].metadata.name, "sunny");
});
