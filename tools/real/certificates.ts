// x509's dependency injection looks for this when it is loaded, so it comes first.
import "reflect-metadata";
import { generateKeyPairSync, webcrypto } from "node:crypto";
import {
  BasicConstraintsExtension,
  cryptoProvider,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from "@peculiar/x509";

cryptoProvider.set(webcrypto as never);

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const day = 24 * 3600 * 1000;

/** A certificate and its private key, both PEM. */
export interface Credential {
  cert: string;
  key: string;
}

/** A certificate authority that lives as long as one test cluster. */
export interface Authority extends Credential {
  /** A client certificate: the name is the Kubernetes user, the organisations are its groups. */
  client(name: string, organisations?: string[]): Promise<Credential>;
  /** A serving certificate for DNS names and IP addresses. */
  server(name: string, dns: string[], ips: string[]): Promise<Credential>;
}

export async function createAuthority(name: string): Promise<Authority> {
  const keys = (await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"])) as webcrypto.CryptoKeyPair;
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: `CN=${name}`,
    keys,
    signingAlgorithm: algorithm,
    ...validity(),
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign | KeyUsageFlags.digitalSignature, true),
    ],
  });

  async function issue(
    subject: { [attribute: string]: string[] }[],
    usage: ExtendedKeyUsage,
    names: SubjectAlternativeNameExtension[],
  ) {
    const own = (await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"])) as webcrypto.CryptoKeyPair;
    const issued = await X509CertificateGenerator.create({
      subject,
      issuer: certificate.subject,
      publicKey: own.publicKey,
      signingKey: keys.privateKey,
      signingAlgorithm: algorithm,
      ...validity(),
      extensions: [
        new ExtendedKeyUsageExtension([usage]),
        new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
        ...names,
      ],
    });
    return { cert: issued.toString("pem"), key: await privateKeyPem(own) };
  }

  return {
    cert: certificate.toString("pem"),
    key: await privateKeyPem(keys),
    client: (user, organisations = []) =>
      issue([{ CN: [user] }, ...organisations.map((group) => ({ O: [group] }))], ExtendedKeyUsage.clientAuth, []),
    server: (host, dns, ips) =>
      issue([{ CN: [host] }], ExtendedKeyUsage.serverAuth, [
        new SubjectAlternativeNameExtension([
          ...dns.map((value) => ({ type: "dns" as const, value })),
          ...ips.map((value) => ({ type: "ip" as const, value })),
        ]),
      ]),
  };
}

/** The key pair that signs and verifies service-account tokens. */
export function createServiceAccountKeys(): { publicKey: string; privateKey: string } {
  return generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
}

function validity() {
  // An hour of slack, for a clock that is set back while a test runs.
  return { notBefore: new Date(Date.now() - day / 24), notAfter: new Date(Date.now() + 365 * day) };
}

async function privateKeyPem(keys: webcrypto.CryptoKeyPair): Promise<string> {
  return PemConverter.encode(await webcrypto.subtle.exportKey("pkcs8", keys.privateKey), "PRIVATE KEY");
}
