import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from "node:crypto";
import { isIP } from "node:net";
import type { Clock } from "@konverge/core";
import type { CertificateRequest } from "./certificate-request.ts";
import * as der from "./der.ts";
import { keyUsage, usagesOf } from "./key-usages.ts";

/** A certificate and its private key, both PEM. */
export interface Credential {
  readonly cert: string;
  readonly key: string;
}

/** What a certificate may be used for, in Kubernetes' words, and from when to when, in milliseconds since 1970. */
export interface SignOptions {
  readonly usages: readonly string[];
  readonly from: number;
  readonly until: number;
}

const HOUR = 3600 * 1000;
const YEAR = 365 * 24 * HOUR;

const COMMON_NAME = "2.5.4.3";
const ORGANIZATION = "2.5.4.10";
const SUBJECT_KEY = "2.5.29.14";
const KEY_USAGE = "2.5.29.15";
const ALTERNATIVE_NAME = "2.5.29.17";
const BASIC_CONSTRAINTS = "2.5.29.19";
const AUTHORITY_KEY = "2.5.29.35";
const EXTENDED_KEY_USAGE = "2.5.29.37";
const SERVER_AUTH = "1.3.6.1.5.5.7.3.1";
const CLIENT_AUTH = "1.3.6.1.5.5.7.3.2";

/** Bits of the key usage, counted from the left. */
const DIGITAL_SIGNATURE = 0x80;
const CERTIFICATES_AND_LISTS = 0x06;

/** A certificate authority: of a whole cluster, as a rule. Everything it does is done when it returns. */
export class Authority implements Credential {
  readonly cert: string;
  readonly key: string;
  readonly #clock: Clock;
  readonly #key: KeyObject;
  /** Of its certificate, byte for byte: what its certificates name as their issuer. */
  readonly #subject: Buffer;
  readonly #keyId: Buffer | undefined;
  /** When its own certificate ends, in milliseconds since 1970. */
  readonly #until: number;

  /** An authority from its certificate and key; {@link createAuthority} makes a new one. */
  constructor(credential: Credential, clock: Clock) {
    this.cert = credential.cert;
    this.key = credential.key;
    this.#clock = clock;
    this.#key = createPrivateKey(credential.key);
    const certificate = new X509Certificate(credential.cert);
    if (!certificate.ca) throw new Error("the certificate of an authority must say that it is one (CA:TRUE)");
    if (!certificate.checkPrivateKey(this.#key)) {
      throw new Error("the authority's private key does not belong to its certificate: give the two that do");
    }
    const parts = partsOf(certificate);
    this.#subject = parts.subject;
    this.#keyId = parts.keyId;
    this.#until = Date.parse(certificate.validTo);
  }

  /** A client certificate: Kubernetes takes the name as the user and the organisations as groups. */
  client(user: string, groups: readonly string[] = []): Credential {
    return this.#issue(distinguishedName(user, groups), CLIENT_AUTH, []);
  }

  /** A serving certificate for DNS names and IP addresses. */
  server(name: string, hosts: readonly string[]): Credential {
    const names = hosts.map((host) =>
      isIP(host) === 0 ? der.implicit(2, Buffer.from(host)) : der.implicit(7, addressBytes(host)),
    );
    return this.#issue(distinguishedName(name), SERVER_AUTH, [extension(ALTERNATIVE_NAME, der.sequence(...names))]);
  }

  /** A certificate for whoever asks for one, PEM: what it asks for and how long it lasts have been judged before. */
  sign({ parts }: CertificateRequest, { from, until, usages }: SignOptions): string {
    const last = this.#until;
    if (from >= last) throw new Error(`the signer has expired: NotAfter=${new Date(last).toISOString()}`);
    const { bits, purposes } = usagesOf(usages);
    return certificate({
      issuer: this.#subject,
      subject: parts.subject,
      publicKey: parts.publicKey,
      signingKey: this.#key,
      from,
      until: Math.min(until, last),
      extensions: [
        ...(bits.length > 0 ? [extension(KEY_USAGE, keyUsage(bits), true)] : []),
        ...(purposes.length > 0
          ? [extension(EXTENDED_KEY_USAGE, der.sequence(...purposes.map((id) => der.identifier(id))))]
          : []),
        extension(BASIC_CONSTRAINTS, der.sequence(), true),
        ...(this.#keyId ? [extension(AUTHORITY_KEY, der.sequence(der.implicit(0, this.#keyId)))] : []),
        ...(parts.names ? [extension(ALTERNATIVE_NAME, parts.names)] : []),
      ],
    });
  }

  #issue(subject: Buffer, usage: string, more: readonly Buffer[]): Credential {
    const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
    const cert = certificate({
      issuer: this.#subject,
      subject,
      publicKey: spki(publicKey),
      signingKey: this.#key,
      from: this.#clock.now() - HOUR,
      until: this.#clock.now() + YEAR,
      extensions: [
        extension(BASIC_CONSTRAINTS, der.sequence(), true),
        extension(KEY_USAGE, der.bitString(Buffer.from([DIGITAL_SIGNATURE]), 7), true),
        extension(EXTENDED_KEY_USAGE, der.sequence(der.identifier(usage))),
        ...(this.#keyId ? [extension(AUTHORITY_KEY, der.sequence(der.implicit(0, this.#keyId)))] : []),
        ...more,
      ],
    });
    return { cert, key: privateKey.export({ type: "pkcs8", format: "pem" }) as string };
  }
}

/** A new authority, with a new key unless one is given (PEM); it lasts ten years. */
export function createAuthority(clock: Clock, options: { name?: string; key?: string } = {}): Authority {
  const { name = "kubernetes", key } = options;
  const privateKey = key ? createPrivateKey(key) : generateKeyPairSync("ec", { namedCurve: "prime256v1" }).privateKey;
  const publicKey = createPublicKey(privateKey);
  const subject = distinguishedName(name);
  const cert = certificate({
    issuer: subject,
    subject,
    publicKey: spki(publicKey),
    signingKey: privateKey,
    from: clock.now() - HOUR,
    until: clock.now() + 10 * YEAR,
    extensions: [
      extension(BASIC_CONSTRAINTS, der.sequence(der.boolean(true)), true),
      extension(KEY_USAGE, der.bitString(Buffer.from([DIGITAL_SIGNATURE | CERTIFICATES_AND_LISTS]), 1), true),
      extension(SUBJECT_KEY, der.octetString(keyIdOf(publicKey))),
    ],
  });
  return new Authority({ cert, key: privateKey.export({ type: "pkcs8", format: "pem" }) as string }, clock);
}

/** The names under which clients inside and outside a cluster reach its API server on this machine. */
export const SERVER_NAMES: readonly string[] = [
  "localhost",
  "127.0.0.1",
  "::1",
  "kubernetes",
  "kubernetes.default",
  "kubernetes.default.svc",
  "kubernetes.default.svc.cluster.local",
];

interface CertificateContent {
  issuer: Buffer;
  subject: Buffer;
  /** SPKI in DER. */
  publicKey: Buffer;
  signingKey: KeyObject;
  from: number;
  until: number;
  extensions: readonly Buffer[];
}

function certificate(content: CertificateContent): string {
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
  const signature = sign("sha256", body, content.signingKey);
  const base64 = der.sequence(body, algorithm, der.bitString(signature)).toString("base64");
  return `-----BEGIN CERTIFICATE-----\n${base64.replace(/(.{64})(?=.)/g, "$1\n")}\n-----END CERTIFICATE-----\n`;
}

function signatureAlgorithm({ asymmetricKeyType }: KeyObject): Buffer {
  if (asymmetricKeyType === "ec") return der.sequence(der.identifier("1.2.840.10045.4.3.2"));
  if (asymmetricKeyType === "rsa") return der.sequence(der.identifier("1.2.840.113549.1.1.11"), der.nothing());
  throw new Error(`an authority cannot sign with a key of type ${asymmetricKeyType}: use an EC or RSA key`);
}

function distinguishedName(commonName: string, organizations: readonly string[] = []): Buffer {
  const attribute = (id: string, text: string) => der.set(der.sequence(der.identifier(id), der.utf8(text)));
  return der.sequence(
    ...organizations.map((name) => attribute(ORGANIZATION, name)),
    attribute(COMMON_NAME, commonName),
  );
}

function extension(id: string, content: Buffer, critical = false): Buffer {
  return der.sequence(der.identifier(id), ...(critical ? [der.boolean(true)] : []), der.octetString(content));
}

const spki = (publicKey: KeyObject): Buffer => publicKey.export({ type: "spki", format: "der" });

function keyIdOf(publicKey: KeyObject): Buffer {
  return createHash("sha256").update(spki(publicKey)).digest().subarray(0, 20);
}

function addressBytes(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split(".").map(Number));
  const [head = "", tail] = address.split("::");
  const words = (text: string) => (text === "" ? [] : text.split(":").map((word) => Number.parseInt(word, 16)));
  const [before, after] = [words(head), words(tail ?? "")];
  const all = [...before, ...new Array<number>(8 - before.length - after.length).fill(0), ...after];
  return Buffer.from(all.flatMap((word) => [word >> 8, word & 0xff]));
}

/** What a certificate's own parser does not give: the subject byte for byte, and the id of its key. */
function partsOf({ raw }: X509Certificate): { subject: Buffer; keyId: Buffer | undefined } {
  const [whole] = der.elements(raw);
  const [body] = der.elements(whole!.content);
  const fields = der.elements(body!.content);
  const versioned = fields[0]?.tag === 0xa0 ? 1 : 0;
  const subject = fields[versioned + 4]!.raw;
  const extensions = fields.find(({ tag }) => tag === 0xa3);
  const list = extensions ? der.elements(der.elements(extensions.content)[0]!.content) : [];
  const wanted = der.identifier(SUBJECT_KEY);
  const found = list.map(({ content }) => der.elements(content)).find(([id]) => id?.raw.equals(wanted));
  const octets = found?.at(-1)?.content;
  return { subject, keyId: octets && der.elements(octets)[0]?.content };
}
