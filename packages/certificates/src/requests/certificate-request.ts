import { CertificateError } from "../certificate-error.ts";
import { DerReader, fieldOf, TAGS } from "../der/read.ts";
import { sequence, set } from "../der/write.ts";
import { EXTENSION_REQUEST, SUBJECT_ALTERNATIVE_NAME } from "../identifiers.ts";
import type { RequestedParts } from "../issue/authority.ts";
import { pemBlocks } from "../pem.ts";
import { readAlgorithm, signatureAlgorithmOf } from "../read/algorithm.ts";
import { NO_NAMES, readAlternativeNames } from "../read/alternative-names.ts";
import { nameAttributes, readName } from "../read/distinguished-name.ts";
import { readExtensions } from "../read/extensions.ts";
import { readPublicKey } from "../read/public-key.ts";
import { signatureProblem } from "../verify/signature.ts";

/** Who a certificate is requested for. */
export interface CertificateRequest {
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** Other names than the subject's. */
  readonly alternativeNames: RequestedNames;
  readonly parts: RequestedParts;
  /** Why the request does not prove that its sender has the key; undefined when it does. */
  signatureProblem(): string | undefined;
}

/** The names that a certificate is to be good for besides its subject: how many of each, as only that matters. */
export interface RequestedNames {
  readonly dns: readonly string[];
  readonly emails: number;
  readonly addresses: number;
  readonly uris: number;
}

const MALFORMED = "asn1: structure error: tags don't match";

/** Reads a request for a certificate, PEM in base64; throws when it is none, in the words of Go's library. */
export function certificateRequest(base64: string | null | undefined): CertificateRequest {
  const [block] = pemBlocks(Buffer.from(base64 ?? "", "base64").toString());
  if (block?.type !== "CERTIFICATE REQUEST") throw new Error("PEM block type must be CERTIFICATE REQUEST");
  const input = new DerReader(block.bytes);
  const outer = input.sequence(MALFORMED);
  if (!input.isEmpty) throw new CertificateError("asn1: syntax error: trailing data");
  const body = outer.element(TAGS.sequence, MALFORMED);
  const algorithm = signatureAlgorithmOf(readAlgorithm(outer.sequence(MALFORMED)));
  const signature = outer.bitNumber(MALFORMED);
  const der = new DerReader(body.content);
  der.int(MALFORMED);
  const { raw, commonName, organizations } = readName(der, MALFORMED);
  const { raw: publicKey, key } = readPublicKey(der);
  const requested = namesIn(der.optional(fieldOf(0), MALFORMED));
  const names = requested ? readAlternativeNames(requested) : NO_NAMES;
  return {
    commonName,
    organizations,
    alternativeNames: {
      dns: names.dns,
      emails: names.emails.length,
      addresses: names.addresses.length,
      uris: names.uris.length,
    },
    parts: { subject: regrouped(raw), publicKey, names: requested },
    signatureProblem: () =>
      key
        ? signatureProblem(algorithm, body.raw, signature, key)
        : "x509: cannot verify signature: algorithm unimplemented",
  };
}

/** The order in which Go writes what a subject consists of; what it does not know comes last. */
const ORDER = ["6", "10", "11", "7", "8", "9", "17", "3", "5"].map((last) => `2.5.4.${last}`);

/** A subject as Go writes it again: all values of one type together, in its own order. */
function regrouped(subject: Buffer): Buffer {
  const rank = (id: string) => (ORDER.includes(id) ? ORDER.indexOf(id) : ORDER.length);
  const byType = Map.groupBy(nameAttributes(subject), ({ id }) => id);
  const sorted = [...byType].sort(([a], [b]) => rank(a) - rank(b));
  return sequence(...sorted.map(([, same]) => set(...same.map(({ raw }) => raw).sort(Buffer.compare))));
}

/** The value of the extension for alternative names that is requested, if it is. */
function namesIn(attributes: DerReader | undefined): Buffer | undefined {
  while (attributes && !attributes.isEmpty) {
    const attribute = attributes.sequence(MALFORMED);
    if (attribute.identifier(MALFORMED) !== EXTENSION_REQUEST) continue;
    const extensions = readExtensions(attribute.inside(TAGS.set, MALFORMED).sequence(MALFORMED));
    const found = extensions.find(({ id }) => id === SUBJECT_ALTERNATIVE_NAME);
    if (found) return found.value;
  }
  return undefined;
}
