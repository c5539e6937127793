import { constants, createPublicKey, verify } from "node:crypto";
import type { SignatureAlgorithm } from "../read/algorithm.ts";
import type { Certificate } from "../read/certificate.ts";
import type { PublicKey } from "../read/public-key.ts";

const CERT_SIGN = 5;

const UNSUPPORTED = "x509: cannot verify signature: algorithm unimplemented";
const NOT_AN_AUTHORITY = "x509: invalid signature: parent certificate cannot sign this kind of certificate";

/** Go's names for the types of keys. */
const TYPES: Readonly<Record<PublicKey["algorithm"], string>> = {
  RSA: "*rsa.PublicKey",
  DSA: "*dsa.PublicKey",
  ECDSA: "*ecdsa.PublicKey",
  Ed25519: "ed25519.PublicKey",
};

/** Why a certificate has not been signed by another; undefined when it has. */
export function issuerProblem(certificate: Certificate, issuer: Certificate): string | undefined {
  const { basicConstraints, keyUsage, publicKey, version } = issuer;
  if (basicConstraints ? !basicConstraints.isCa : version === 3) return NOT_AN_AUTHORITY;
  if (keyUsage && !keyUsage.has(CERT_SIGN)) return NOT_AN_AUTHORITY;
  if (!publicKey) return UNSUPPORTED;
  const { signatureAlgorithm, body, signature } = certificate;
  if (signatureAlgorithm?.hash === "sha1") return insecure(signatureAlgorithm);
  return signatureProblem(signatureAlgorithm, body, signature, publicKey);
}

/** Why a signature is not one of a key over some bytes; undefined when it is. */
export function signatureProblem(
  algorithm: SignatureAlgorithm | undefined,
  signed: Buffer,
  signature: Buffer,
  publicKey: PublicKey,
): string | undefined {
  if (!algorithm) return UNSUPPORTED;
  if (algorithm.hash === "md5") return insecure(algorithm);
  if (publicKey.algorithm === "DSA") return UNSUPPORTED;
  if (algorithm.key !== publicKey.algorithm) {
    const [expected, actual] = [algorithm.key, TYPES[publicKey.algorithm]];
    return `x509: signature algorithm specifies an ${expected} public key, but have public key of type ${actual}`;
  }
  const weakness = rsaProblem(publicKey);
  if (weakness) return weakness;
  if (isSignedBy(algorithm, signed, signature, publicKey)) return undefined;
  return publicKey.algorithm === "RSA"
    ? "crypto/rsa: verification error"
    : `x509: ${publicKey.algorithm} verification failure`;
}

function insecure({ name }: SignatureAlgorithm): string {
  return `x509: cannot verify signature: insecure algorithm ${name}`;
}

/** Why an RSA key is not used; undefined for all others. */
export function rsaProblem({ rsa }: PublicKey): string | undefined {
  if (!rsa) return undefined;
  const { bits, modulus, exponent } = rsa;
  if (bits < 1024) {
    return `crypto/rsa: ${bits}-bit keys are insecure (see https://go.dev/pkg/crypto/rsa#hdr-Minimum_key_size)`;
  }
  if (modulus % 2n === 0n) return "crypto/rsa: public modulus is even";
  if (exponent < 2n) return "crypto/rsa: public exponent too small or negative";
  if (exponent % 2n === 0n) return "crypto/rsa: public exponent is even";
  if (exponent >= 2n ** 31n) return "crypto/rsa: public exponent too large";
  return undefined;
}

function isSignedBy(
  { hash, isPss }: SignatureAlgorithm,
  signed: Buffer,
  signature: Buffer,
  { spki }: PublicKey,
): boolean {
  if (!spki) return false;
  const pss = isPss && { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
  try {
    const key = createPublicKey({ key: spki, format: "der", type: "spki" });
    return verify(hash, signed, { key, ...pss }, signature);
  } catch {
    // OpenSSL throws at keys that it cannot use at all.
    return false;
  }
}
