import { CertificateError } from "../certificate-error.ts";
import { DerReader, field, fieldOf, TAGS } from "../der/read.ts";
import { SUBJECT_ALTERNATIVE_NAME } from "../identifiers.ts";
import { pemBlocks } from "../pem.ts";
import { readAlgorithm, type SignatureAlgorithm, signatureAlgorithmOf } from "./algorithm.ts";
import { type CertificateTime, readTime } from "./certificate-time.ts";
import { type DistinguishedName, readName } from "./distinguished-name.ts";
import { type Extension, type ExtensionFacts, meaningOf, readExtensions } from "./extensions.ts";
import { type PublicKey, readPublicKey } from "./public-key.ts";

/** A certificate, read. */
export interface Certificate extends ExtensionFacts {
  readonly raw: Buffer;
  /** The part that is signed. */
  readonly body: Buffer;
  readonly version: number;
  readonly serialNumber: bigint;
  /** Undefined: one that is not known. */
  readonly signatureAlgorithm: SignatureAlgorithm | undefined;
  readonly signature: Buffer;
  readonly issuer: DistinguishedName;
  readonly subject: DistinguishedName;
  readonly notBefore: CertificateTime;
  readonly notAfter: CertificateTime;
  /** The public key in DER. */
  readonly rawPublicKey: Buffer;
  /** Undefined: of an algorithm that is not known. */
  readonly publicKey: PublicKey | undefined;
  /** The extension with its names as it is written. */
  readonly rawNames: Buffer | undefined;
}

/** Reads a certificate in DER, refusing what Go's library refuses, in its words. */
export function parseCertificate(bytes: Buffer): Certificate {
  const input = new DerReader(bytes);
  const { raw, content } = input.element(TAGS.sequence, "x509: malformed certificate");
  const outer = new DerReader(content);
  const body = outer.element(TAGS.sequence, "x509: malformed tbs certificate");
  const der = new DerReader(body.content);
  const version = versionIn(der);
  const serialNumber = der.integer("x509: malformed serial number");
  if (serialNumber < 0n) throw new CertificateError("x509: negative serial number");
  const inner = der.content(TAGS.sequence, "x509: malformed signature algorithm identifier");
  if (!inner.equals(outer.content(TAGS.sequence, "x509: malformed algorithm identifier"))) {
    throw new CertificateError("x509: inner and outer signature algorithm identifiers don't match");
  }
  const signatureAlgorithm = signatureAlgorithmOf(readAlgorithm(new DerReader(inner)));
  const issuer = readName(der, "x509: malformed issuer");
  const validity = der.sequence("x509: malformed validity");
  const [notBefore, notAfter] = [readTime(validity), readTime(validity)];
  const subject = readName(der, "x509: malformed issuer");
  const { raw: rawPublicKey, key: publicKey } = readPublicKey(der);
  const extensions = extensionsIn(der, version);
  const facts = meaningOf(extensions);
  const signature = outer.bitNumber("x509: malformed signature");
  if (!input.isEmpty) throw new CertificateError("x509: trailing data");
  return {
    raw,
    body: body.raw,
    version,
    serialNumber,
    signatureAlgorithm,
    signature,
    issuer,
    subject,
    notBefore,
    notAfter,
    rawPublicKey,
    publicKey,
    rawNames: extensions.find(({ id }) => id === SUBJECT_ALTERNATIVE_NAME)?.value,
    ...facts,
  };
}

/** The certificate in a PEM text; the first, if it has several. */
export function parseCertificatePem(text: string): Certificate {
  const block = pemBlocks(text).find(({ type }) => type === "CERTIFICATE");
  if (!block)
    throw new CertificateError("the text has no certificate: a block that begins with -----BEGIN CERTIFICATE-----");
  return parseCertificate(block.bytes);
}

function versionIn(der: DerReader): number {
  const problem = "x509: malformed version";
  const explicit = der.optional(fieldOf(0), problem);
  const version = explicit?.int(problem) ?? 0n;
  if (version < 0n || (explicit && !explicit.isEmpty)) throw new CertificateError(problem);
  if (version > 2n) throw new CertificateError("x509: invalid version");
  return Number(version) + 1;
}

/** Only the third version has extensions; what follows the key in others is skipped. */
function extensionsIn(der: DerReader, version: number): Extension[] {
  if (version < 2) return [];
  der.optional(field(1), "x509: malformed issuerUniqueID");
  der.optional(field(2), "x509: malformed subjectUniqueID");
  const problem = "x509: malformed extensions";
  const list = version === 3 ? der.optional(fieldOf(3), problem)?.sequence(problem) : undefined;
  return list ? readExtensions(list) : [];
}
