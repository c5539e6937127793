import { verify } from "node:crypto";
import { type Element, elements, sequence, set } from "./der.ts";

/** Who a certificate is asked for. */
export interface CertificateRequest {
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** Other names than the subject's. */
  readonly alternativeNames: AlternativeNames;
  /** In DER, byte for byte: the subject, its public key, and the other names as one value; undefined: none. */
  readonly parts: { readonly subject: Buffer; readonly publicKey: Buffer; readonly names: Buffer | undefined };
  /** Whether whoever asks has the key. */
  isSigned(): boolean;
}

/** The names that a certificate is to be good for besides its subject: how many of each, as only that matters. */
export interface AlternativeNames {
  readonly dns: readonly string[];
  readonly emails: number;
  readonly addresses: number;
  readonly uris: number;
}

const EXTENSION_REQUEST = "2a864886f70d01090e";
const ALTERNATIVE_NAME = "551d11";
const COMMON_NAME = "550403";
const ORGANIZATION = "55040a";
/** What a signature was made with, by the last bytes of its identifier; keys of Ed25519 have no digest. */
const DIGESTS: Record<string, string> = {
  "2a864886f70d010105": "sha1",
  "2a864886f70d01010b": "sha256",
  "2a864886f70d01010c": "sha384",
  "2a864886f70d01010d": "sha512",
  "2a8648ce3d040302": "sha256",
  "2a8648ce3d040303": "sha384",
  "2a8648ce3d040304": "sha512",
};

/** Reads a request for a certificate, PEM in base64; throws when it is none, in the words of Go's library. */
export function certificateRequest(base64: string | null | undefined): CertificateRequest {
  const pem = Buffer.from(base64 ?? "", "base64").toString();
  const block = /-----BEGIN ([^-]+)-----([\s\S]*?)-----END \1-----/.exec(pem);
  if (block?.[1] !== "CERTIFICATE REQUEST") throw new Error("PEM block type must be CERTIFICATE REQUEST");
  const [request] = elements(Buffer.from(block[2]!, "base64"));
  const [info, algorithm, signature] = children(request);
  const [, subject, key, attributes] = children(info);
  if (!request || !info || !algorithm || !signature || !subject || !key) {
    throw new Error("asn1: structure error: tags don't match");
  }
  const names = children(subject).flatMap((set) => children(set).map(children));
  const valuesOf = (type: string) =>
    names.filter(([id]) => id?.content.toString("hex") === type).map(([, value]) => value!.content.toString());
  const requested = alternativeNames(attributes);
  const tagged = (tag: number) =>
    (requested ? elements(requested).flatMap(children) : []).filter((one) => one.tag === tag);
  return {
    alternativeNames: {
      emails: tagged(0x81).length,
      dns: tagged(0x82).map(({ content }) => content.toString()),
      uris: tagged(0x86).length,
      addresses: tagged(0x87).length,
    },
    parts: { subject: regrouped(names), publicKey: key.raw, names: requested },
    commonName: valuesOf(COMMON_NAME).at(-1) ?? "",
    organizations: valuesOf(ORGANIZATION),
    isSigned: () => isSigned(info, algorithm, signature, key),
  };
}

/** The order in which Go writes what a subject consists of; what it does not know comes last. */
const ORDER = ["550406", "55040a", "55040b", "550407", "550408", "550409", "550411", COMMON_NAME, "550405"];

/** A subject as Go writes it again: all values of one type together, in its own order. */
function regrouped(names: readonly (readonly Element[])[]): Buffer {
  const rank = (type: string) => (ORDER.includes(type) ? ORDER.indexOf(type) : ORDER.length);
  const types = [...new Set(names.map(([id]) => id!.content.toString("hex")))].sort((a, b) => rank(a) - rank(b));
  const sets = types.map((type) => {
    const same = names.filter(([id]) => id!.content.toString("hex") === type);
    const values = same.map(([id, value]) => sequence(id!.raw, value!.raw));
    return set(...values.sort(Buffer.compare));
  });
  return sequence(...sets);
}

/** The value of the extension that is asked for, if it is. */
function alternativeNames(attributes: Element | undefined): Buffer | undefined {
  for (const attribute of children(attributes)) {
    const [id, values] = children(attribute);
    if (id?.content.toString("hex") !== EXTENSION_REQUEST) continue;
    for (const extension of children(values).flatMap(children)) {
      const parts = children(extension);
      if (parts[0]?.content.toString("hex") === ALTERNATIVE_NAME) return parts.at(-1)?.content;
    }
  }
  return undefined;
}

function children(element: Element | undefined): Element[] {
  return element ? elements(element.content) : [];
}

function isSigned(info: Element, algorithm: Element, signature: Element, key: Element): boolean {
  const digest = DIGESTS[children(algorithm)[0]!.content.toString("hex")];
  try {
    const publicKey = { key: key.raw, format: "der" as const, type: "spki" as const };
    // The first byte of a bit string says how many of its last bits are unused.
    return verify(digest, info.raw, publicKey, signature.content.subarray(1));
  } catch {
    return false;
  }
}
