import { createHash, type KeyObject, randomBytes, sign } from "node:crypto";
import * as der from "../der/write.ts";
import { COMMON_NAME, ECDSA_WITH_SHA256, ORGANIZATION, RSA_WITH_SHA256 } from "../identifiers.ts";

/** What a certificate says; names, the key and extensions in DER. */
export interface CertificateContent {
  readonly issuer: Buffer;
  readonly subject: Buffer;
  /** SPKI. */
  readonly publicKey: Buffer;
  readonly signingKey: KeyObject;
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly until: number;
  readonly extensions: readonly Buffer[];
}

/** Writes and signs a certificate: DER. */
export function writeCertificate(content: CertificateContent): Buffer {
  const algorithm = signatureAlgorithm(content.signingKey);
  const serial = randomBytes(16);
  serial[0]! &= 0x7f;
  const body = der.sequence(
    der.explicit(0, der.integer(Buffer.from([2]))),
    der.integer(serial),
    algorithm,
    content.issuer,
    der.sequence(der.time(content.from), der.time(content.until)),
    content.subject,
    content.publicKey,
    der.explicit(3, der.sequence(...content.extensions)),
  );
  return signed(body, content.signingKey);
}

/** A signed value: the value, the algorithm, the signature. */
export function signed(body: Buffer, key: KeyObject): Buffer {
  return der.sequence(body, signatureAlgorithm(key), der.bitString(sign("sha256", body, key)));
}

function signatureAlgorithm({ asymmetricKeyType }: KeyObject): Buffer {
  if (asymmetricKeyType === "ec") return der.sequence(der.identifier(ECDSA_WITH_SHA256));
  if (asymmetricKeyType === "rsa") return der.sequence(der.identifier(RSA_WITH_SHA256), der.nothing());
  throw new Error(`an authority cannot sign with a key of type ${asymmetricKeyType}: use an EC or RSA key`);
}

/** A name in DER: organizations first, as Go writes them. */
export function distinguishedName(commonName: string, organizations: readonly string[] = []): Buffer {
  const attribute = (id: string, text: string) => der.set(der.sequence(der.identifier(id), der.utf8(text)));
  return der.sequence(
    ...organizations.map((name) => attribute(ORGANIZATION, name)),
    attribute(COMMON_NAME, commonName),
  );
}

/** An extension in DER. */
export function extension(id: string, content: Buffer, isCritical = false): Buffer {
  return der.sequence(der.identifier(id), ...(isCritical ? [der.boolean(true)] : []), der.octetString(content));
}

export const spki = (publicKey: KeyObject): Buffer => publicKey.export({ type: "spki", format: "der" });

/** What a key is called in the certificates that are signed with it. */
export function keyIdOf(publicKey: KeyObject): Buffer {
  return createHash("sha256").update(spki(publicKey)).digest().subarray(0, 20);
}
