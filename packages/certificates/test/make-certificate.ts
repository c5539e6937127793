import { constants, createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { parseIp } from "@konverge/core";
import * as der from "../src/der/write.ts";
import * as id from "../src/identifiers.ts";
import { keyUsage } from "../src/issue/key-usages.ts";

/** A certificate made for a test, and what it takes to make others below it. */
export interface Made {
  readonly raw: Buffer;
  readonly subject: Buffer;
  readonly keys: Keys;
  readonly keyId: Buffer | undefined;
}

export interface Keys {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

/** How a certificate is signed: the algorithm in DER, and how to. */
export interface Signing {
  readonly algorithm: Buffer;
  sign(body: Buffer, key: KeyObject): Buffer;
}

/** What is unusual about a certificate; everything in DER may be nonsense. */
export interface Making {
  /** A common name, or a whole name in DER. */
  readonly subject?: string | Buffer;
  /** Default: it signs itself. */
  readonly issuer?: Made;
  readonly keys?: Keys;
  readonly version?: number;
  readonly serial?: Buffer;
  readonly from?: string;
  readonly until?: string;
  /** The times in DER. */
  readonly validity?: Buffer;
  /** DNS names and IP addresses. */
  readonly hosts?: readonly string[];
  /** Other names in DER. */
  readonly names?: readonly Buffer[];
  /** An authority; with a number, how many others may follow it. */
  readonly ca?: boolean | number;
  /** Bits of the key usage. */
  readonly usages?: readonly number[];
  readonly purposes?: readonly string[];
  /** The identifier of this certificate's key; false: none. */
  readonly keyId?: Buffer | false;
  /** The identifier of its issuer's key; false: none. */
  readonly issuerKeyId?: Buffer | false;
  readonly extensions?: readonly Buffer[];
  readonly signing?: Signing;
  /** The algorithm outside the signed part, where it differs. */
  readonly outerAlgorithm?: Buffer;
  readonly publicKey?: Buffer;
  /** Changes the signature. */
  readonly forged?: boolean;
}

export const ecKeys = (namedCurve = "prime256v1"): Keys => generateKeyPairSync("ec", { namedCurve });
export const rsaKeys = (modulusLength: number): Keys => generateKeyPairSync("rsa", { modulusLength });
export const ed25519Keys = (): Keys => generateKeyPairSync("ed25519");

const plain = (algorithm: string, hash: string | undefined, ...parameters: Buffer[]): Signing => ({
  algorithm: der.sequence(der.identifier(algorithm), ...parameters),
  sign: (body, key) => sign(hash, body, key),
});

export const SIGNINGS = {
  ecdsaSha1: plain("1.2.840.10045.4.1", "sha1"),
  ecdsaSha256: plain(id.ECDSA_WITH_SHA256, "sha256"),
  ecdsaSha384: plain("1.2.840.10045.4.3.3", "sha384"),
  ecdsaSha512: plain("1.2.840.10045.4.3.4", "sha512"),
  rsaMd5: plain("1.2.840.113549.1.1.4", "md5", der.nothing()),
  rsaSha1: plain("1.2.840.113549.1.1.5", "sha1", der.nothing()),
  rsaSha256: plain(id.RSA_WITH_SHA256, "sha256", der.nothing()),
  rsaSha512: plain("1.2.840.113549.1.1.13", "sha512", der.nothing()),
  ed25519: plain(id.ED25519, undefined),
  ed25519WithParameters: plain(id.ED25519, undefined, der.nothing()),
  unknown: plain("1.2.3.4", "sha256"),
  pss: (saltLength: number): Signing => {
    const sha256 = der.sequence(der.identifier("2.16.840.1.101.3.4.2.1"), der.nothing());
    const parameters = der.sequence(
      der.explicit(0, sha256),
      der.explicit(1, der.sequence(der.identifier(id.MASK_GENERATION_1), sha256)),
      der.explicit(2, der.integer(Buffer.from([saltLength]))),
    );
    return {
      algorithm: der.sequence(der.identifier(id.RSA_PSS), parameters),
      sign: (body, key) => sign("sha256", body, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength }),
    };
  },
};

function signingFor({ asymmetricKeyType }: KeyObject): Signing {
  if (asymmetricKeyType === "rsa") return SIGNINGS.rsaSha256;
  return asymmetricKeyType === "ed25519" ? SIGNINGS.ed25519 : SIGNINGS.ecdsaSha256;
}

export function name(commonName: string): Buffer {
  return der.sequence(der.set(der.sequence(der.identifier(id.COMMON_NAME), der.utf8(commonName))));
}

export function extension(identifier: string, content: Buffer, isCritical = false): Buffer {
  const critical = isCritical ? [der.boolean(true)] : [];
  return der.sequence(der.identifier(identifier), ...critical, der.octetString(content));
}

/** Names of the types that certificates have. */
export const email = (text: string) => der.implicit(1, Buffer.from(text));
export const dns = (text: string) => der.implicit(2, Buffer.from(text));
export const uri = (text: string) => der.implicit(6, Buffer.from(text));
export const address = (...bytes: number[]) => der.implicit(7, Buffer.from(bytes));
export const host = (text: string) => {
  const parsed = parseIp(text);
  return typeof parsed === "string" ? dns(text) : address(...parsed.bytes);
};

/** The extension that limits the names below an authority. */
export function constraints(limits: { permitted?: Buffer[]; excluded?: Buffer[] }, isCritical = true): Buffer {
  const trees = (list: Buffer[]) => list.map((one) => der.sequence(one));
  const { permitted, excluded } = limits;
  const parts = [
    ...(permitted ? [der.explicit(0, ...trees(permitted))] : []),
    ...(excluded ? [der.explicit(1, ...trees(excluded))] : []),
  ];
  return extension(id.NAME_CONSTRAINTS, der.sequence(...parts), isCritical);
}

export const utcTime = (text: string) => Buffer.concat([Buffer.from([0x17, text.length]), Buffer.from(text)]);
export const generalizedTime = (text: string) => Buffer.concat([Buffer.from([0x18, text.length]), Buffer.from(text)]);

let serials = 0;

/** Makes a certificate, good or bad. */
export function make(making: Making = {}): Made {
  const { keys = ecKeys(), issuer, version = 3, from = "2026-01-01", until = "2027-01-01" } = making;
  const subject = typeof making.subject === "object" ? making.subject : name(making.subject ?? "server");
  const signingKey = (issuer?.keys ?? keys).privateKey;
  const { algorithm, sign: signWith } = making.signing ?? signingFor(signingKey);
  const spki = making.publicKey ?? keys.publicKey.export({ type: "spki", format: "der" });
  const ownKeyId = createHash("sha1").update(spki).digest();
  const keyId = making.keyId === false ? undefined : (making.keyId ?? (making.ca ? ownKeyId : undefined));
  const body = der.sequence(
    ...(version > 1 ? [der.explicit(0, der.integer(Buffer.from([version - 1])))] : []),
    making.serial ?? der.integer(Buffer.from([++serials])),
    algorithm,
    issuer?.subject ?? subject,
    making.validity ?? der.sequence(der.time(Date.parse(from)), der.time(Date.parse(until))),
    subject,
    spki,
    ...(version === 3 ? [der.explicit(3, der.sequence(...extensionsOf(making, keyId)))] : []),
  );
  const signature = signWith(body, signingKey);
  if (making.forged) signature[signature.length - 1]! ^= 1;
  const raw = der.sequence(body, making.outerAlgorithm ?? algorithm, der.bitString(signature));
  return { raw, subject, keys, keyId };
}

function extensionsOf(making: Making, keyId: Buffer | undefined): Buffer[] {
  const { ca, hosts, names, usages, purposes, issuer, issuerKeyId } = making;
  const pathLength = typeof ca === "number" ? [der.integer(Buffer.from([ca]))] : [];
  const all = [...(hosts ?? []).map(host), ...(names ?? [])];
  const above = issuerKeyId === false ? undefined : (issuerKeyId ?? issuer?.keyId);
  return [
    ...(ca === undefined
      ? []
      : [
          extension(
            id.BASIC_CONSTRAINTS,
            der.sequence(...(ca === false ? [] : [der.boolean(true), ...pathLength])),
            true,
          ),
        ]),
    ...(usages ? [extension(id.KEY_USAGE, keyUsage(usages), true)] : []),
    ...(purposes ? [extension(id.EXTENDED_KEY_USAGE, der.sequence(...purposes.map(der.identifier)))] : []),
    ...(all.length > 0 ? [extension(id.SUBJECT_ALTERNATIVE_NAME, der.sequence(...all))] : []),
    ...(keyId ? [extension(id.SUBJECT_KEY_ID, der.octetString(keyId))] : []),
    ...(above ? [extension(id.AUTHORITY_KEY_ID, der.sequence(der.implicit(0, above)))] : []),
    ...(making.extensions ?? []),
  ];
}
