import { certificateRequest } from "@konverge/certificates";
import { deepEqual, quoted } from "@konverge/core";
import { resourceAttributes } from "../auth/attributes.ts";
import type { CertificateSigningRequest } from "../codec/objects.ts";
import { type AdmissionAttributes, type AdmissionPlugin, isAbout, refusal } from "./attributes.ts";

const GROUP = "certificates.k8s.io";
const REQUESTS = `${GROUP}/certificatesigningrequests`;
const CLIENT_SIGNER = "kubernetes.io/kube-apiserver-client";

/** Only who may approve for a signer approves requests to it. */
export const certificateApproval: AdmissionPlugin = {
  name: "CertificateApproval",
  handles: (attributes) => isUpdateOf(attributes, "approval"),
  validate(attributes) {
    const { signerName } = (attributes.old as unknown as CertificateSigningRequest).spec;
    if (maySign(attributes, "approve", signerName)) return;
    throw refusal(attributes, `user not permitted to approve requests with signerName ${quoted(signerName)}`);
  },
};

/** Only who may sign for a signer says what became of a request to it. */
export const certificateSigning: AdmissionPlugin = {
  name: "CertificateSigning",
  handles: (attributes) => isUpdateOf(attributes, "status"),
  validate(attributes) {
    const { spec, status: before } = attributes.old as unknown as CertificateSigningRequest;
    const { status: after } = attributes.object as unknown as CertificateSigningRequest;
    const same =
      before?.certificate === after?.certificate && deepEqual(before?.conditions ?? [], after?.conditions ?? []);
    if (same || maySign(attributes, "sign", spec.signerName)) return;
    throw refusal(attributes, `user not permitted to sign requests with signerName ${quoted(spec.signerName)}`);
  },
};

/** No certificate makes its user an administrator. */
export const certificateSubjectRestriction: AdmissionPlugin = {
  name: "CertificateSubjectRestriction",
  handles: (attributes) => attributes.operation === "CREATE" && isAbout(attributes, REQUESTS),
  validate(attributes) {
    const { spec } = attributes.object as unknown as CertificateSigningRequest;
    if (spec.signerName !== CLIENT_SIGNER) return;
    const { organizations } = certificateRequest(spec.request);
    if (!organizations.includes("system:masters")) return;
    throw refusal(attributes, `use of ${CLIENT_SIGNER} signer with system:masters group is not allowed`);
  },
};

function isUpdateOf({ operation, group, resource, subresource }: AdmissionAttributes, wanted: string): boolean {
  return operation === "UPDATE" && `${group}/${resource}` === REQUESTS && subresource === wanted;
}

/** By the signer's own name, or by that of all signers of its domain. */
function maySign({ call }: AdmissionAttributes, verb: string, signerName: string): boolean {
  return [signerName, `${signerName.split("/")[0]}/*`].some(
    (name) => call.authorize(call.user, resourceAttributes(verb, { group: GROUP, resource: "signers", name })).allowed,
  );
}
