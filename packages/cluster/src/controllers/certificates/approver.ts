import { certificateRequest } from "@konverge/apiserver";
import type { Client } from "@konverge/client";
import { keyOf } from "@konverge/core";
import { CertificateSigningRequest } from "@konverge/kinds";
import { builtInController } from "../../parts/built-in-controller.ts";
import { KUBELET_CLIENT_SIGNER, kubeletClientProblem } from "./signer-rules.ts";

/** A node may have permission to request its own certificate, or a user that of any node. */
const WAYS = [
  { subresource: "selfnodeclient", of: "self kubelet client", self: true },
  { subresource: "nodeclient", of: "kubelet client", self: false },
];

/** Approves requests for client certificates of nodes, if the requester has permission. */
export function approver() {
  return builtInController(CertificateSigningRequest, {
    name: "csrapproving",
    async reconcile(csr, { client }) {
      const { spec, status } = csr;
      const isDecided = status?.conditions?.some(({ type }) => type === "Approved" || type === "Denied");
      if (status?.certificate || isDecided || spec.signerName !== KUBELET_CLIENT_SIGNER) return undefined;
      const request = certificateRequest(spec.request);
      if (kubeletClientProblem(request, spec.usages ?? []) !== undefined) return undefined;
      for (const { subresource, of, self } of WAYS) {
        if (self && spec.username !== request.commonName) continue;
        if (!(await isAllowed(client, csr, subresource))) continue;
        const message = `Auto approving ${of} certificate after SubjectAccessReview.`;
        const condition = { type: "Approved", status: "True", reason: "AutoApproved", message };
        const conditions = [...(status?.conditions ?? []), condition];
        await client.request({
          method: "PUT",
          path: `/apis/certificates.k8s.io/v1/certificatesigningrequests/${keyOf(csr)}/approval`,
          body: { ...csr, status: { ...status, conditions } },
        });
        return undefined;
      }
      return undefined;
    },
  });
}

async function isAllowed(client: Client, { spec }: CertificateSigningRequest, subresource: string): Promise<boolean> {
  const { username: user, uid, groups, extra } = spec;
  const resourceAttributes = {
    group: "certificates.k8s.io",
    resource: "certificatesigningrequests",
    verb: "create",
    subresource,
    version: "*",
  };
  const review = await client.request({
    method: "POST",
    path: "/apis/authorization.k8s.io/v1/subjectaccessreviews",
    body: {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SubjectAccessReview",
      spec: { user, ...(uid && { uid }), groups, ...(extra && { extra }), resourceAttributes },
    },
  });
  return (JSON.parse(review) as { status: { allowed: boolean } }).status.allowed;
}
