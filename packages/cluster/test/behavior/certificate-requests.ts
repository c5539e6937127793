import { createPrivateKey, type KeyObject } from "node:crypto";
import { createCertificateRequest } from "@konverge/certificates";

/** A request for a certificate as CertificateSigningRequests carry it, and the key that it is for. */
export function certificateRequest(
  commonName: string,
  organizations: readonly string[] = [],
  dnsNames: readonly string[] = [],
): { request: string; key: KeyObject } {
  const { request, key } = createCertificateRequest(commonName, organizations, dnsNames);
  return { request: Buffer.from(request).toString("base64"), key: createPrivateKey(key) };
}
