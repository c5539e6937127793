import { isUtf8 } from "node:buffer";
import { parseIp, quoted } from "@konverge/core";
import { CertificateError } from "../certificate-error.ts";
import { DerReader, fieldOf } from "../der/read.ts";
import { isDomainConstraint, parseMailbox } from "../domain-names.ts";
import { ascii, NAME_TAGS } from "./alternative-names.ts";

/** A range of IP addresses: 4 or 16 bytes each. */
export interface AddressRange {
  readonly address: Buffer;
  readonly mask: Buffer;
}

/** Names of every type. */
export interface NameSubtrees {
  readonly dns: readonly string[];
  readonly addresses: readonly AddressRange[];
  readonly emails: readonly string[];
  readonly uris: readonly string[];
}

/** The names that the certificates of an authority may have. */
export interface NameConstraints {
  readonly permitted: NameSubtrees;
  readonly excluded: NameSubtrees;
  /** Whether there are constraints of types that are not understood. */
  readonly isPartial: boolean;
}

export function readNameConstraints(value: Buffer): NameConstraints {
  const problem = "x509: invalid NameConstraints extension";
  const outer = new DerReader(value);
  const inner = outer.sequence(problem);
  if (!outer.isEmpty) throw new CertificateError(problem);
  const permitted = inner.optional(fieldOf(0), problem);
  const excluded = inner.optional(fieldOf(1), problem);
  if (!inner.isEmpty) throw new CertificateError(problem);
  if ((permitted?.isEmpty ?? true) && (excluded?.isEmpty ?? true)) {
    throw new CertificateError("x509: empty name constraints extension");
  }
  const [allowed, refused] = [subtreesIn(permitted, problem), subtreesIn(excluded, problem)];
  return { permitted: allowed, excluded: refused, isPartial: allowed.isPartial || refused.isPartial };
}

function subtreesIn(der: DerReader | undefined, problem: string): NameSubtrees & { isPartial: boolean } {
  const found = {
    dns: [] as string[],
    addresses: [] as AddressRange[],
    emails: [] as string[],
    uris: [] as string[],
    isPartial: false,
  };
  while (der && !der.isEmpty) {
    const { tag, content } = der.sequence(problem).next(problem);
    switch (tag) {
      case NAME_TAGS.dns:
        found.dns.push(checked(content, "dnsName", isDomainConstraint));
        break;
      case NAME_TAGS.address:
        found.addresses.push(rangeOf(content));
        break;
      case NAME_TAGS.email:
        found.emails.push(checked(content, "rfc822Name", isMailConstraint));
        break;
      case NAME_TAGS.uri:
        found.uris.push(uriConstraint(content));
        break;
      default:
        found.isPartial = true;
    }
  }
  return found;
}

function checked(content: Buffer, type: string, isGood: (text: string) => boolean): string {
  const problem = `x509: ${quotedBytes(content)} cannot be encoded as an IA5String`;
  const text = ascii(content, `x509: invalid constraint value: ${problem}`);
  if (!isGood(text)) throw new CertificateError(`x509: failed to parse ${type} constraint ${quoted(text)}`);
  return text;
}

/** One mailbox, or all of a domain. */
function isMailConstraint(text: string): boolean {
  return text.includes("@") ? parseMailbox(text) !== undefined : isDomainConstraint(text);
}

function uriConstraint(content: Buffer): string {
  const text = checked(content, "URI", (one) => isAddress(one) || isDomainConstraint(one));
  if (!isAddress(text)) return text;
  throw new CertificateError(`x509: failed to parse URI constraint ${quoted(text)}: cannot be IP address`);
}

function isAddress(text: string): boolean {
  const address = parseIp(text);
  return typeof address !== "string" && address.zone === "";
}

function rangeOf(content: Buffer): AddressRange {
  if (content.length !== 8 && content.length !== 32) {
    throw new CertificateError(`x509: IP constraint contained value of length ${content.length}`);
  }
  const address = content.subarray(0, content.length / 2);
  const mask = content.subarray(content.length / 2);
  const bits = [...mask].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  if (bits.includes("01")) {
    throw new CertificateError(`x509: IP constraint contained invalid mask ${mask.toString("hex")}`);
  }
  return { address, mask };
}

/** As Go's `%q` writes bytes, which may be no UTF-8. */
function quotedBytes(bytes: Buffer): string {
  let text = "";
  for (let at = 0; at < bytes.length; ) {
    const rest = bytes.length - at;
    const size = [1, 2, 3, 4].find((length) => length <= rest && isUtf8(bytes.subarray(at, at + length)));
    const character = size && quoted(bytes.toString("utf8", at, at + size)).slice(1, -1);
    text += character ?? `\\x${bytes[at]!.toString(16).padStart(2, "0")}`;
    at += size ?? 1;
  }
  return `"${text}"`;
}
