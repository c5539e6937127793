import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import type { Client } from "@konverge/client";
import { CertificateSigningRequest } from "@konverge/kinds";
import { certificateRequest } from "./certificate-requests.ts";
import { type Behavior, conditionOf, type Stage } from "./stage.ts";

const CLIENT = ["digital signature", "client auth"];
const get = ({ client, namespace }: Stage) => client.get(CertificateSigningRequest, namespace);

const ask = ({ client, namespace }: Stage, request: string, signerName: string, usages: string[], more: object = {}) =>
  client.create(CertificateSigningRequest, {
    metadata: { name: namespace },
    spec: { request, signerName: `kubernetes.io/${signerName}`, usages: usages as never, ...more },
  });

/** What `kubectl certificate approve` and `deny` do. */
export async function decide(client: Client, name: string, type: "Approved" | "Denied"): Promise<void> {
  const csr = await client.get(CertificateSigningRequest, name);
  const condition = { type, status: "True", reason: "KubectlApprove", message: "decided by a test" };
  const conditions = [...(csr.status?.conditions ?? []), condition];
  await client.request({
    method: "PUT",
    path: `/apis/certificates.k8s.io/v1/certificatesigningrequests/${name}/approval`,
    body: { ...csr, status: { ...csr.status, conditions } },
  });
}

const issued = async (stage: Stage) => {
  await stage.until("the certificate is there", async () => Boolean((await get(stage)).status?.certificate));
  return new X509Certificate(Buffer.from((await get(stage)).status!.certificate!, "base64"));
};

const fails = async (stage: Stage, message: string) => {
  await stage.until("it has failed", async () => {
    return conditionOf(await get(stage), "Failed") === "True SignerValidationFailure";
  });
  const { conditions, certificate } = (await get(stage)).status ?? {};
  assert.equal(conditions?.find(({ type }) => type === "Failed")?.message, message);
  assert.equal(certificate, undefined);
};

export const certificates: Record<string, Behavior> = {
  "a client's certificate is signed when its request is approved, for the requested time": async (stage) => {
    const { request, key } = certificateRequest("jane", ["team-a", "team-b"]);
    await ask(stage, request, "kube-apiserver-client", CLIENT, { expirationSeconds: 3600 });
    await stage.quiet();
    assert.deepEqual((await get(stage)).status ?? {}, {});
    await decide(stage.client, stage.namespace, "Approved");
    const certificate = await issued(stage);
    assert.equal(certificate.subject, "O=team-a + O=team-b\nCN=jane");
    assert.equal(certificate.issuer, "CN=kubernetes");
    assert.ok(certificate.checkPrivateKey(key));
    assert.equal(certificate.ca, false);
    assert.deepEqual(certificate.keyUsage, ["1.3.6.1.5.5.7.3.2"]);
    const lasts = Date.parse(certificate.validTo) - Date.parse(certificate.validFrom);
    assert.equal(lasts, 3600_000 + 5 * 60_000);
  },

  "a certificate lasts no longer than a year, and no shorter than ten minutes": async (stage) => {
    const { request } = certificateRequest("jane");
    await ask(stage, request, "kube-apiserver-client", CLIENT, { expirationSeconds: 600 });
    await decide(stage.client, stage.namespace, "Approved");
    const certificate = await issued(stage);
    assert.equal(Date.parse(certificate.validTo) - Date.parse(certificate.validFrom), 15 * 60_000);
  },

  "what a signer does not sign has failed, and says why": async (stage) => {
    const { request } = certificateRequest("jane");
    await ask(stage, request, "kube-apiserver-client", ["server auth"]);
    await decide(stage.client, stage.namespace, "Approved");
    await fails(stage, "invalid usage for client certificate: server auth");
  },

  "what has been denied is not signed": async (stage) => {
    const { request } = certificateRequest("jane");
    await ask(stage, request, "kube-apiserver-client", CLIENT);
    await decide(stage.client, stage.namespace, "Denied");
    await stage.quiet();
    assert.equal((await get(stage)).status?.certificate, undefined);
  },

  "a node's client certificate is approved by itself": async (stage) => {
    const { request } = certificateRequest("system:node:one", ["system:nodes"]);
    await ask(stage, request, "kube-apiserver-client-kubelet", CLIENT);
    const certificate = await issued(stage);
    assert.equal(certificate.subject, "O=system:nodes\nCN=system:node:one");
    const { conditions } = (await get(stage)).status ?? {};
    assert.deepEqual(
      conditions?.map(({ type, reason, message }) => [type, reason, message]),
      [["Approved", "AutoApproved", "Auto approving kubelet client certificate after SubjectAccessReview."]],
    );
  },

  "a node's serving certificate needs approval, and other names": async (stage) => {
    const { request } = certificateRequest("system:node:one", ["system:nodes"], ["one.example.com"]);
    await ask(stage, request, "kubelet-serving", ["digital signature", "server auth"]);
    await stage.quiet();
    assert.deepEqual((await get(stage)).status ?? {}, {});
    await decide(stage.client, stage.namespace, "Approved");
    const certificate = await issued(stage);
    assert.equal(certificate.subjectAltName, "DNS:one.example.com");
    assert.deepEqual(certificate.keyUsage, ["1.3.6.1.5.5.7.3.1"]);
  },

  "a serving certificate without a name fails": async (stage) => {
    const { request } = certificateRequest("system:node:one", ["system:nodes"]);
    await ask(stage, request, "kubelet-serving", ["digital signature", "server auth"]);
    await decide(stage.client, stage.namespace, "Approved");
    await fails(stage, "DNS or IP subjectAltName is required");
  },
};
