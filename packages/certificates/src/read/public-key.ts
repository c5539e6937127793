import { createPublicKey } from "node:crypto";
import { CertificateError } from "../certificate-error.ts";
import { DerReader, TAGS } from "../der/read.ts";
import { bitString, identifier, integer, sequence } from "../der/write.ts";
import { DSA_KEY, EC_KEY, ED25519, RSA_KEY } from "../identifiers.ts";
import { type AlgorithmIdentifier, type KeyAlgorithm, NULL, readAlgorithm } from "./algorithm.ts";

/** A key that signatures are checked with. */
export interface PublicKey {
  readonly algorithm: KeyAlgorithm;
  /** Of an RSA key. */
  readonly rsa?: { readonly bits: number; readonly modulus: bigint; readonly exponent: bigint };
  /** The key in DER, without anything that OpenSSL would refuse; undefined for keys that are not used (DSA). */
  readonly spki: Buffer | undefined;
}

/** The named curves by their identifiers: how many bytes a coordinate has. */
const CURVES: Readonly<Record<string, { readonly name: string; readonly size: number }>> = {
  "1.3.132.0.33": { name: "P224", size: 28 },
  "1.2.840.10045.3.1.7": { name: "P256", size: 32 },
  "1.3.132.0.34": { name: "P384", size: 48 },
  "1.3.132.0.35": { name: "P521", size: 66 },
};

/** Reads a public key. The key itself is undefined when its algorithm is not known. */
export function readPublicKey(der: DerReader): { raw: Buffer; key: PublicKey | undefined } {
  const { raw, content } = der.element(TAGS.sequence, "x509: malformed spki");
  const inner = new DerReader(content);
  const algorithm = readAlgorithm(inner.sequence("x509: malformed public key algorithm identifier"));
  return { raw, key: keyOf(algorithm, inner.bitNumber("x509: malformed subjectPublicKey")) };
}

function keyOf({ id, parameters }: AlgorithmIdentifier, bytes: Buffer): PublicKey | undefined {
  switch (id) {
    case RSA_KEY:
      return rsaKey(parameters, bytes);
    case EC_KEY:
      return ecKey(parameters, bytes);
    case ED25519:
      if (parameters) throw new CertificateError("x509: Ed25519 key encoded with illegal parameters");
      if (bytes.length !== 32) throw new CertificateError("x509: wrong Ed25519 public key size");
      return { algorithm: "Ed25519", spki: spkiOf([identifier(ED25519)], bytes) };
    case DSA_KEY:
      return dsaKey(parameters, bytes);
    default:
      return undefined;
  }
}

function rsaKey(parameters: Buffer | undefined, bytes: Buffer): PublicKey {
  if (!parameters?.equals(NULL)) throw new CertificateError("x509: RSA key missing NULL parameters");
  const der = new DerReader(bytes).sequence("x509: invalid RSA public key");
  const modulus = der.integer("x509: invalid RSA modulus");
  const exponent = der.int("x509: invalid RSA public exponent");
  if (modulus <= 0n) throw new CertificateError("x509: RSA modulus is not a positive number");
  if (exponent <= 0n) throw new CertificateError("x509: RSA public exponent is not a positive number");
  const bits = modulus.toString(2).length;
  const numbers = sequence(integer(bytesOf(modulus)), integer(bytesOf(exponent)));
  return { algorithm: "RSA", rsa: { bits, modulus, exponent }, spki: spkiOf([identifier(RSA_KEY), NULL], numbers) };
}

function ecKey(parameters: Buffer | undefined, bytes: Buffer): PublicKey {
  const der = new DerReader(parameters ?? Buffer.alloc(0));
  const id = der.identifier("x509: invalid ECDSA parameters");
  const curve = CURVES[id];
  if (!curve) throw new CertificateError("x509: unsupported elliptic curve");
  if (bytes[0] !== 4) throw new CertificateError("ecdsa: invalid uncompressed public key");
  if (bytes.length !== 1 + 2 * curve.size) throw new CertificateError(`invalid ${curve.name} point encoding`);
  const spki = spkiOf([identifier(EC_KEY), identifier(id)], bytes);
  if (!isUsable(spki)) throw new CertificateError(`${curve.name} point not on curve`);
  return { algorithm: "ECDSA", spki };
}

function dsaKey(parameters: Buffer | undefined, bytes: Buffer): PublicKey {
  const y = new DerReader(bytes).integer("x509: invalid DSA public key");
  const problem = "x509: invalid DSA parameters";
  const der = new DerReader(parameters ?? Buffer.alloc(0)).sequence(problem);
  const numbers = [y, der.integer(problem), der.integer(problem), der.integer(problem)];
  if (numbers.some((one) => one <= 0n)) throw new CertificateError("x509: zero or negative DSA parameter");
  return { algorithm: "DSA", spki: undefined };
}

function spkiOf(algorithm: readonly Buffer[], bytes: Buffer): Buffer {
  return sequence(sequence(...algorithm), bitString(bytes));
}

function bytesOf(value: bigint): Buffer {
  const hex = value.toString(16);
  return Buffer.from(hex.padStart(hex.length + (hex.length % 2), "0"), "hex");
}

function isUsable(spki: Buffer): boolean {
  try {
    createPublicKey({ key: spki, format: "der", type: "spki" });
    return true;
  } catch {
    return false;
  }
}
