import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { type Client, connect } from "@konverge/client";
import { type Cluster, type ClusterPort, createBootstrapToken, startCluster } from "@konverge/cluster";
import { isForbidden, VirtualClock } from "@konverge/core";
import { CertificateSigningRequest, ConfigMap, Lease, Node, Secret } from "@konverge/kinds";
import { certificateRequest } from "../behavior/certificate-requests.ts";
import { decide } from "../behavior/certificates.ts";
import { during } from "../behavior/stages.ts";

const TOKEN = "abcdef.0123456789abcdef";
const CLIENT = ["digital signature", "client auth"];
const SERVING = ["digital signature", "server auth"];

/** A client of a port, with these credentials or none. */
const clientOf = ({ url, authority }: ClusterPort, credentials: object = {}): Promise<Client> =>
  connect({ config: { server: url, ca: { value: authority.cert }, ...credentials } });

const withToken = (port: ClusterPort, value: string) => clientOf(port, { credentials: { token: { value } } });

/** Requests a certificate as a kubelet does, and waits for it. */
async function certificateFor(client: Client, node: string, signer: string, approve?: Client) {
  const names = approve ? [node, "127.0.0.1"] : [];
  const { request, key } = certificateRequest(`system:node:${node}`, ["system:nodes"], names);
  const { metadata } = await client.create(CertificateSigningRequest, {
    metadata: { generateName: "csr-" },
    spec: { request, signerName: `kubernetes.io/${signer}`, usages: (approve ? SERVING : CLIENT) as never },
  });
  if (approve) await decide(approve, metadata.name, "Approved");
  for await (const event of client.watch(CertificateSigningRequest, {
    fieldSelector: `metadata.name=${metadata.name}`,
  })) {
    const certificate = "object" in event && event.object.status?.certificate;
    if (!certificate) continue;
    const pem = key.export({ type: "pkcs8", format: "pem" }) as string;
    return { cert: Buffer.from(certificate, "base64").toString(), key: pem };
  }
  throw new Error("the watch has ended");
}

async function onPort(play: (cluster: Cluster, port: ClusterPort) => Promise<void>): Promise<void> {
  await using cluster = await startCluster({ nodes: [], bootstrapTokens: true });
  await using port = await cluster.listen();
  await play(cluster, port);
}

test("a kubelet joins by a bootstrap token, gets its certificates and renews them", () =>
  onPort(async ({ client, clock }, port) => {
    assert.equal(await createBootstrapToken(client, clock, { token: TOKEN }), TOKEN);
    await using bootstrap = await withToken(port, TOKEN);
    await assert.rejects(bootstrap.list(Node), isForbidden);
    await assert.rejects(bootstrap.get(Secret, "kube-system/bootstrap-token-abcdef"), isForbidden);
    const credential = await certificateFor(bootstrap, "one", "kube-apiserver-client-kubelet");
    const { cert, key } = credential;
    await using node = await clientOf(port, { cert: { value: cert }, key: { value: key } });
    const status = { nodeInfo: { containerRuntimeVersion: "containerd://2.2.1" } };
    await node.create(Node, { metadata: { name: "one" }, status } as never);
    const lease = { metadata: { name: "one", namespace: "kube-node-lease" }, spec: { holderIdentity: "one" } };
    await node.create(Lease, lease);
    await assert.rejects(node.create(Node, { metadata: { name: "two" } }), isForbidden);
    await assert.rejects(node.get(Secret, "kube-system/bootstrap-token-abcdef"), isForbidden);
    const renewed = await certificateFor(node, "one", "kube-apiserver-client-kubelet");
    assert.notEqual(renewed.cert, cert);
    await assert.rejects(certificateFor(node, "two", "kube-apiserver-client-kubelet"), isForbidden);
    const serving = await certificateFor(node, "one", "kubelet-serving", client);
    assert.match(serving.cert, /BEGIN CERTIFICATE/);
  }));

test("a token that has expired, was deleted or is not for authentication is refused", () =>
  onPort(async ({ client, clock }, port) => {
    const refused = async () => {
      await using stranger = await withToken(port, TOKEN);
      await assert.rejects(stranger.list(CertificateSigningRequest), { code: 401 });
    };
    await refused();
    const data = { "token-id": "abcdef", "token-secret": "0123456789abcdef" };
    const metadata = { name: "bootstrap-token-abcdef", namespace: "kube-system" };
    await client.create(Secret, { metadata, type: "bootstrap.kubernetes.io/token", stringData: data });
    await refused();
    await createBootstrapToken(client, clock, { token: TOKEN, ttl: -1000 });
    await refused();
    await createBootstrapToken(client, clock, { token: TOKEN });
    await using known = await withToken(port, TOKEN);
    await known.list(CertificateSigningRequest);
    await client.delete(Secret, "kube-system/bootstrap-token-abcdef");
    await refused();
  }));

test("every client can read where the cluster is, and one with a token can verify it", () =>
  onPort(async ({ client, clock }, port) => {
    await createBootstrapToken(client, clock, { token: TOKEN });
    await using anonymous = await clientOf(port);
    await assert.rejects(anonymous.list(ConfigMap, { namespace: "kube-public" }), isForbidden);
    let signature: string | undefined;
    for await (const event of client.watch(ConfigMap, { namespace: "kube-public" })) {
      signature = "object" in event ? event.object.data?.["jws-kubeconfig-abcdef"] : undefined;
      if (signature) break;
    }
    const { data } = await anonymous.get(ConfigMap, "kube-public/cluster-info");
    const { kubeconfig = "" } = data ?? {};
    assert.ok(kubeconfig.includes(`server: ${port.url}\n`));
    assert.ok(kubeconfig.includes(Buffer.from(port.authority.cert).toString("base64")));
    const [header = "", , signed] = signature!.split(".");
    assert.deepEqual(JSON.parse(Buffer.from(header, "base64url").toString()), { alg: "HS256", kid: "abcdef" });
    const content = `${header}.${Buffer.from(kubeconfig).toString("base64url")}`;
    assert.equal(signed, createHmac("sha256", "0123456789abcdef").update(content).digest("base64url"));
  }));

test("a token is deleted when it expires, and its signature with it", async () => {
  const clock = new VirtualClock();
  const wait = <T>(promise: Promise<T>) => during(clock, promise);
  const cluster = await wait(startCluster({ clock, nodes: [], bootstrapTokens: true }));
  const { client } = cluster;
  const metadata = { name: "cluster-info", namespace: "kube-public" };
  await wait(client.create(ConfigMap, { metadata, data: { kubeconfig: "text" } }));
  await wait(createBootstrapToken(client, clock, { token: TOKEN, ttl: 60_000 }));
  const keys = async () =>
    Object.keys((await wait(client.get(ConfigMap, "kube-public/cluster-info"))).data ?? {}).sort();
  await clock.advance(30_000);
  assert.deepEqual(await keys(), ["jws-kubeconfig-abcdef", "kubeconfig"]);
  await clock.advance(40_000);
  assert.deepEqual(await keys(), ["kubeconfig"]);
  assert.deepEqual((await wait(client.list(Secret, { namespace: "kube-system" }))).items, []);
  await wait(cluster.stop());
});

test("what is no bootstrap token is refused before anything is written", async () => {
  await using cluster = await startCluster({ nodes: [] });
  await assert.rejects(
    createBootstrapToken(cluster.client, cluster.clock, { token: "short.token" }),
    /bootstrap token/,
  );
});
