import { type GoUrl, parseUrl, quoted, UrlError } from "@konverge/core";
import { CertificateError } from "../certificate-error.ts";
import { DerReader, field } from "../der/read.ts";
import { isDomainName } from "../domain-names.ts";

/** The names that a certificate is for. */
export interface AlternativeNames {
  readonly dns: readonly string[];
  readonly emails: readonly string[];
  /** IP addresses: 4 or 16 bytes each. */
  readonly addresses: readonly Buffer[];
  readonly uris: readonly GoUrl[];
}

export const NO_NAMES: AlternativeNames = { dns: [], emails: [], addresses: [], uris: [] };

/** The tags of the names that are understood. Others, such as directory names, are skipped. */
export const NAME_TAGS = { email: field(1), dns: field(2), uri: field(6), address: field(7) } as const;

export function readAlternativeNames(value: Buffer): AlternativeNames {
  const der = new DerReader(value).sequence("x509: invalid subject alternative names");
  const names = { dns: [] as string[], emails: [] as string[], addresses: [] as Buffer[], uris: [] as GoUrl[] };
  while (!der.isEmpty) {
    const { tag, content } = der.next("x509: invalid subject alternative name");
    switch (tag) {
      case NAME_TAGS.email:
        names.emails.push(ascii(content, "x509: SAN rfc822Name is malformed"));
        break;
      case NAME_TAGS.dns:
        names.dns.push(ascii(content, "x509: SAN dNSName is malformed"));
        break;
      case NAME_TAGS.uri:
        names.uris.push(uriOf(ascii(content, "x509: SAN uniformResourceIdentifier is malformed")));
        break;
      case NAME_TAGS.address:
        if (content.length !== 4 && content.length !== 16) {
          throw new CertificateError(`x509: cannot parse IP address of length ${content.length}`);
        }
        names.addresses.push(content);
        break;
    }
  }
  return names;
}

/** Text of nothing but ASCII. */
export function ascii(content: Buffer, problem: string): string {
  if (content.some((byte) => byte > 0x7f)) throw new CertificateError(problem);
  return content.toString("latin1");
}

function uriOf(text: string): GoUrl {
  try {
    const url = parseUrl(text);
    if (isDomainName(url.host)) return url;
  } catch (error) {
    if (!(error instanceof UrlError)) throw error;
    throw new CertificateError(`x509: cannot parse URI ${quoted(text)}: ${error.message}`);
  }
  throw new CertificateError(`x509: cannot parse URI ${quoted(text)}: invalid domain`);
}
