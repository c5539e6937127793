import { CertificateError } from "../certificate-error.ts";
import { DerReader, type Element, TAGS } from "../der/read.ts";
import { COMMON_NAME, ORGANIZATION } from "../identifiers.ts";

/** Who a certificate is for, or who issued it. */
export interface DistinguishedName {
  /** In DER: two names are the same if these bytes are. */
  readonly raw: Buffer;
  readonly commonName: string;
  readonly organizations: readonly string[];
}

/** One value of a name. */
export interface NameAttribute {
  readonly id: string;
  readonly value: string;
  /** In DER, with its identifier. */
  readonly raw: Buffer;
}

export function readName(der: DerReader, problem: string): DistinguishedName {
  const { raw } = der.element(TAGS.sequence, problem);
  const attributes = nameAttributes(raw);
  return {
    raw,
    commonName: attributes.findLast(({ id }) => id === COMMON_NAME)?.value ?? "",
    organizations: attributes.filter(({ id }) => id === ORGANIZATION).map(({ value }) => value),
  };
}

/** The values in a name, one after the other. */
export function nameAttributes(raw: Buffer): NameAttribute[] {
  const problem = "x509: invalid RDNSequence";
  const sets = new DerReader(raw).sequence(problem);
  const attributes: NameAttribute[] = [];
  while (!sets.isEmpty) {
    const set = sets.inside(TAGS.set, problem);
    while (!set.isEmpty) {
      const { raw: whole, content } = set.element(TAGS.sequence, `${problem}: invalid attribute`);
      const attribute = new DerReader(content);
      const id = attribute.identifier(`${problem}: invalid attribute type`);
      const value = textOf(attribute.next(`${problem}: invalid attribute value`));
      attributes.push({ id, value, raw: whole });
    }
  }
  return attributes;
}

const PRINTABLE = /^[A-Za-z0-9'()+,\-./ :=?*&]*$/;

/** Text in any of the encodings that names come in. */
function textOf({ tag, content }: Element): string {
  const bytes = content.toString("latin1");
  switch (tag) {
    case 0x0c:
      return utf8Of(content);
    case 0x12:
      return checked(bytes, /^[0-9 ]*$/, "NumericString");
    case 0x13:
      return checked(bytes, PRINTABLE, "PrintableString");
    case 0x14: // T61String, which is read as Latin-1 in practice.
      return bytes;
    case 0x16:
      // biome-ignore lint/suspicious/noControlCharactersInRegex: IA5 is all of ASCII
      return checked(bytes, /^[\x00-\x7f]*$/, "IA5String");
    case 0x1e:
      return bmpOf(content);
    default:
      throw invalidValue(`unsupported string type: ${tag}`);
  }
}

function checked(text: string, pattern: RegExp, type: string): string {
  if (!pattern.test(text)) throw invalidValue(`invalid ${type}`);
  return text;
}

function utf8Of(content: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    throw invalidValue("invalid UTF-8 string");
  }
}

/** UCS-2: two bytes for each character, without surrogates and without what is never a character. */
function bmpOf(content: Buffer): string {
  if (content.length % 2 !== 0) throw invalidValue("invalid BMPString");
  const text = Buffer.from(content).swap16().toString("utf16le").replace(/\0$/, "");
  return checked(text, /^[^\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]*$/, "BMPString");
}

function invalidValue(why: string): CertificateError {
  return new CertificateError(`x509: invalid RDNSequence: invalid attribute value: ${why}`);
}
