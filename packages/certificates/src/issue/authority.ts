import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, X509Certificate } from "node:crypto";
import type { Clock } from "@konverge/core";
import * as der from "../der/write.ts";
import {
  AUTHORITY_KEY_ID,
  BASIC_CONSTRAINTS,
  CLIENT_AUTH,
  EXTENDED_KEY_USAGE,
  KEY_USAGE,
  SERVER_AUTH,
  SUBJECT_ALTERNATIVE_NAME,
  SUBJECT_KEY_ID,
} from "../identifiers.ts";
import { pem } from "../pem.ts";
import { type Certificate, parseCertificatePem } from "../read/certificate.ts";
import { alternativeNames } from "./alternative-names.ts";
import { distinguishedName, extension, keyIdOf, spki, writeCertificate } from "./certificate.ts";
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

/** What is requested, in DER: the subject, its public key, and its other names as one value; undefined: none. */
export interface RequestedParts {
  readonly subject: Buffer;
  readonly publicKey: Buffer;
  readonly names: Buffer | undefined;
}

export interface AuthorityOptions {
  /** Its common name. Default: `kubernetes`. */
  readonly name?: string;
  /** Its private key, PEM. Default: a new one. */
  readonly key?: string;
  /** Milliseconds that it lasts. Default: ten years. */
  readonly lifetime?: number;
}

const HOUR = 3600 * 1000;
const YEAR = 365 * 24 * HOUR;

/** How far certificates are dated back, for the clocks of others that are slow. */
export const BACKDATED = HOUR;

/** A certificate authority: of a whole cluster, as a rule. Everything it does is done when it returns. */
export class Authority implements Credential {
  readonly cert: string;
  readonly key: string;
  readonly #clock: Clock;
  readonly #key: KeyObject;
  readonly #certificate: Certificate;

  /** An authority from its certificate and key; {@link createAuthority} makes a new one. */
  constructor(credential: Credential, clock: Clock) {
    this.cert = credential.cert;
    this.key = credential.key;
    this.#clock = clock;
    this.#key = createPrivateKey(credential.key);
    this.#certificate = parseCertificatePem(credential.cert);
    if (!this.#certificate.basicConstraints?.isCa) {
      throw new Error("the certificate of an authority must say that it is one (CA:TRUE)");
    }
    if (!new X509Certificate(this.#certificate.raw).checkPrivateKey(this.#key)) {
      throw new Error("the authority's private key does not belong to its certificate: give the two that do");
    }
  }

  /** A client certificate: Kubernetes takes the name as the user and the organizations as groups. Keys of `ec` cost less. */
  client(user: string, groups: readonly string[] = [], key: "ec" | "rsa" = "ec"): Credential {
    return this.#issue(distinguishedName(user, groups), CLIENT_AUTH, YEAR, [], key);
  }

  /** A serving certificate for DNS names and IP addresses; `lifetime` in milliseconds. */
  server(name: string, hosts: readonly string[], lifetime = YEAR): Credential {
    return this.#issue(distinguishedName(name), SERVER_AUTH, lifetime, [alternativeNames(hosts)]);
  }

  /** The certificate that is requested, PEM. Whether it may be, and how long it lasts, have been judged before. */
  sign({ parts }: { readonly parts: RequestedParts }, { from, until, usages }: SignOptions): string {
    const last = this.#certificate.notAfter.at;
    if (from >= last) throw new Error(`the signer has expired: NotAfter=${new Date(last).toISOString()}`);
    const { bits, purposes } = usagesOf(usages);
    const certificate = writeCertificate({
      issuer: this.#certificate.subject.raw,
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
        ...this.#keyId(),
        ...(parts.names ? [extension(SUBJECT_ALTERNATIVE_NAME, parts.names)] : []),
      ],
    });
    return pem("CERTIFICATE", certificate);
  }

  #issue(
    subject: Buffer,
    purpose: string,
    lifetime: number,
    more: readonly Buffer[],
    key: "ec" | "rsa" = "ec",
  ): Credential {
    const { publicKey, privateKey } = newKeys(key);
    const certificate = writeCertificate({
      issuer: this.#certificate.subject.raw,
      subject,
      publicKey: spki(publicKey),
      signingKey: this.#key,
      from: this.#clock.now() - BACKDATED,
      until: this.#clock.now() + lifetime,
      extensions: [
        extension(BASIC_CONSTRAINTS, der.sequence(), true),
        extension(KEY_USAGE, keyUsage(usagesOf(["digital signature"]).bits), true),
        extension(EXTENDED_KEY_USAGE, der.sequence(der.identifier(purpose))),
        ...this.#keyId(),
        ...more,
      ],
    });
    return { cert: pem("CERTIFICATE", certificate), key: keyPem(privateKey) };
  }

  /** Which of its keys signed, if its certificate names it. */
  #keyId(): Buffer[] {
    const { subjectKeyId } = this.#certificate;
    return subjectKeyId ? [extension(AUTHORITY_KEY_ID, der.sequence(der.implicit(0, subjectKeyId)))] : [];
  }
}

/** A new authority. */
export function createAuthority(clock: Clock, options: AuthorityOptions = {}): Authority {
  const { name = "kubernetes", key, lifetime = 10 * YEAR } = options;
  const privateKey = key ? createPrivateKey(key) : generateKeyPairSync("ec", { namedCurve: "prime256v1" }).privateKey;
  const publicKey = createPublicKey(privateKey);
  const subject = distinguishedName(name);
  const certificate = writeCertificate({
    issuer: subject,
    subject,
    publicKey: spki(publicKey),
    signingKey: privateKey,
    from: clock.now() - BACKDATED,
    until: clock.now() + lifetime,
    extensions: [
      extension(BASIC_CONSTRAINTS, der.sequence(der.boolean(true)), true),
      extension(KEY_USAGE, keyUsage(usagesOf(["digital signature", "cert sign", "crl sign"]).bits), true),
      extension(SUBJECT_KEY_ID, der.octetString(keyIdOf(publicKey))),
    ],
  });
  return new Authority({ cert: pem("CERTIFICATE", certificate), key: keyPem(privateKey) }, clock);
}

function newKeys(key: "ec" | "rsa"): { publicKey: KeyObject; privateKey: KeyObject } {
  return key === "rsa"
    ? generateKeyPairSync("rsa", { modulusLength: 2048 })
    : generateKeyPairSync("ec", { namedCurve: "prime256v1" });
}

function keyPem(key: KeyObject): string {
  return key.export({ type: "pkcs8", format: "pem" }) as string;
}
