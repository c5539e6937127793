/**
 * Certificates (X.509): written, read and verified, with nothing but node:crypto for keys, hashes and signatures.
 *
 * An {@link Authority} issues certificates for servers and clients, and signs the requests of others
 * ({@link certificateRequest}). {@link parseCertificate} reads one, and {@link verifyProblem} says whether it is to be
 * trusted. Both follow Go's crypto/x509, which every Kubernetes component uses, rather than OpenSSL: the same certificates
 * are refused, with the same messages (docs/decisions/025-certificates.md).
 */
export { CertificateError } from "./certificate-error.ts";
export {
  Authority,
  type AuthorityOptions,
  BACKDATED,
  type Credential,
  createAuthority,
  type RequestedParts,
  type SignOptions,
} from "./issue/authority.ts";
export { type PemBlock, pem, pemBlocks } from "./pem.ts";
export { type Certificate, parseCertificate, parseCertificatePem } from "./read/certificate.ts";
export { type CertificateRequest, certificateRequest, type RequestedNames } from "./requests/certificate-request.ts";
export { createCertificateRequest, type RequestedCredential } from "./requests/create-request.ts";
export { CertPool, certPoolFromPem } from "./verify/cert-pool.ts";
export { type ServerChainOptions, serverChainProblem } from "./verify/server-chain.ts";
export { issuerProblem } from "./verify/signature.ts";
export { type VerifyOptions, verifyProblem } from "./verify/verify.ts";
