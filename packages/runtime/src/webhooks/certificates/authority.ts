import "reflect-metadata"; // x509 looks for it while it loads, so it comes first.
import { createPrivateKey, webcrypto, X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import type { Clock } from "@konverge/core";
import * as x509 from "@peculiar/x509";

x509.cryptoProvider.set(webcrypto as never);

/** A certificate and its private key, both PEM. */
export interface Credential {
  readonly cert: string;
  readonly key: string;
}

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
/** For the clocks of others that are slow. */
const SLACK = 3_600_000;

/** A new authority, which lasts for `lifetime` milliseconds. */
export async function createAuthority(clock: Clock, name: string, lifetime: number): Promise<Credential> {
  const keys = await newKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: [{ CN: [`${name} ${clock.random.uuid().slice(0, 8)}`] }],
    keys,
    signingAlgorithm: ALGORITHM,
    ...validity(clock, lifetime),
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey as never),
    ],
  });
  return { cert: certificate.toString("pem"), key: await privateKeyPem(keys) };
}

/** A serving certificate for DNS names and IP addresses, signed by an authority. */
export async function issueServing(
  clock: Clock,
  authority: Credential,
  hosts: readonly string[],
  lifetime: number,
): Promise<Credential> {
  const keys = await newKeys();
  const issuer = new x509.X509Certificate(authority.cert);
  const certificate = await x509.X509CertificateGenerator.create({
    subject: [{ CN: [hosts[0]!.slice(0, 64)] }],
    issuer: issuer.subject,
    publicKey: keys.publicKey as never,
    signingKey: (await importKey(authority.key)) as never,
    signingAlgorithm: ALGORITHM,
    ...validity(clock, lifetime),
    extensions: [
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(
        hosts.map((value) => ({ type: isIP(value) === 0 ? ("dns" as const) : ("ip" as const), value })),
      ),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  });
  return { cert: certificate.toString("pem"), key: await privateKeyPem(keys) };
}

/** What a certificate says about itself. */
export interface CertificateFacts {
  readonly from: number;
  readonly until: number;
  /** DNS names and IP addresses. */
  readonly hosts: readonly string[];
  readonly signedBy: (authority: string) => boolean;
}

export function factsOf(pem: string): CertificateFacts {
  const certificate = new X509Certificate(pem);
  return {
    from: Date.parse(certificate.validFrom),
    until: Date.parse(certificate.validTo),
    hosts: (certificate.subjectAltName ?? "").split(", ").map((name) => name.replace(/^(DNS|IP Address):/, "")),
    signedBy: (authority) => certificate.verify(new X509Certificate(authority).publicKey),
  };
}

/** The certificates of a bundle, one by one. */
export function certificatesIn(bundle: string): string[] {
  return (
    bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n?/g)?.map((pem) => `${pem.trim()}\n`) ?? []
  );
}

function validity(clock: Clock, lifetime: number) {
  return { notBefore: new Date(clock.now() - SLACK), notAfter: new Date(clock.now() + lifetime) };
}

async function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return (await webcrypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"])) as webcrypto.CryptoKeyPair;
}

function importKey(pem: string): Promise<webcrypto.CryptoKey> {
  const der = createPrivateKey(pem).export({ type: "pkcs8", format: "der" });
  return webcrypto.subtle.importKey("pkcs8", der, ALGORITHM, false, ["sign"]);
}

async function privateKeyPem(keys: webcrypto.CryptoKeyPair): Promise<string> {
  return x509.PemConverter.encode(await webcrypto.subtle.exportKey("pkcs8", keys.privateKey), "PRIVATE KEY");
}
