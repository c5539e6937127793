import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { connect } from "@konverge/client";
import { BUILT_IN_CONTROLLERS, startCluster } from "@konverge/cluster";
import { CertificateSigningRequest } from "@konverge/kinds";
import { certificateRequest } from "./certificate-requests.ts";
import { certificates, decide } from "./certificates.ts";
import { during, playEmbedded, virtualStage } from "./stages.ts";

playEmbedded(certificates);

test("a client with a signed certificate is authenticated by it", async (t) => {
  await using cluster = await startCluster({ parts: BUILT_IN_CONTROLLERS });
  await using port = await cluster.listen();
  const { client } = cluster;
  const { request, key } = certificateRequest("jane", ["team-a"]);
  await client.create(CertificateSigningRequest, {
    metadata: { name: "jane" },
    spec: { request, signerName: "kubernetes.io/kube-apiserver-client", usages: ["client auth"] },
  });
  await decide(client, "jane", "Approved");
  let certificate: string | undefined;
  for await (const event of client.watch(CertificateSigningRequest)) {
    if ("object" in event) certificate = (event.object as CertificateSigningRequest).status?.certificate;
    if (certificate) break;
  }
  const folder = mkdtempSync(join(tmpdir(), "konverge-csr-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const kubeconfig = join(folder, "kubeconfig");
  const user = {
    "client-certificate-data": certificate,
    "client-key-data": Buffer.from(key.export({ type: "pkcs8", format: "pem" })).toString("base64"),
  };
  const server = {
    server: port.url,
    "certificate-authority-data": Buffer.from(port.authority.cert).toString("base64"),
  };
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "c", cluster: server }],
      users: [{ name: "jane", user }],
      contexts: [{ name: "c", context: { cluster: "c", user: "jane" } }],
      "current-context": "c",
    }),
  );
  await using jane = await connect({ kubeconfig });
  const review = await jane.request({
    method: "POST",
    path: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
    body: { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
  });
  const { userInfo } = (JSON.parse(review) as { status: { userInfo: { username: string; groups: string[] } } }).status;
  assert.equal(userInfo.username, "jane");
  assert.deepEqual(userInfo.groups, ["team-a", "system:authenticated"]);
});

test("requests are deleted an hour after they were decided, and after a day without a decision", async () => {
  const { client, cluster, clock, pass } = await virtualStage();
  const { request } = certificateRequest("jane");
  for (const name of ["signed", "denied", "pending"]) {
    await client.create(CertificateSigningRequest, {
      metadata: { name },
      spec: { request, signerName: "kubernetes.io/kube-apiserver-client", usages: ["client auth"] },
    });
  }
  await decide(client, "signed", "Approved");
  await decide(client, "denied", "Denied");
  const names = async () => (await client.list(CertificateSigningRequest)).items.map(({ metadata }) => metadata.name);
  await pass(55 * 60_000);
  assert.deepEqual(await names(), ["denied", "pending", "signed"]);
  await pass(10 * 60_000);
  assert.deepEqual(await names(), ["pending"]);
  await pass(24 * 3_600_000);
  assert.deepEqual(await names(), []);
  await during(clock, cluster.stop());
});
