/** Whether a text has the form of a domain name in a certificate: labels that are not empty, no dot at the end. */
export function isDomainName(text: string): boolean {
  return text === "" || /^[!--/-~]+(?:\.[!--/-~]+)*$/.test(text);
}

/** The same for a constraint, which may begin with a dot: names below a domain, but not the domain itself. */
export function isDomainConstraint(text: string): boolean {
  return isDomainName(text.startsWith(".") && text !== "." ? text.slice(1) : text);
}

/** A mail address: case matters before the `@` only. */
export interface Mailbox {
  readonly local: string;
  readonly domain: string;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the standard allows them
const QUOTED_LOCAL = /^"((?:\\[\x01-\x09\x0b\x0c\x0e-\x7f]|[\x01-\x08\x0b\x0c\x0e-!#-[\]-\x7f])*)"@/;
const PLAIN_LOCAL = /^((?:\\[\s\S]|[0-9A-Za-z!#$%&'*+\-/=?^_`{|}~.])+)@/;

/** A mail address of the form in RFC 2821; undefined when it is none. Spaces are allowed in quotes, escapes everywhere. */
export function parseMailbox(text: string): Mailbox | undefined {
  const quoted = QUOTED_LOCAL.exec(text);
  const [prefix, escaped] = quoted ?? PLAIN_LOCAL.exec(text) ?? [];
  if (prefix === undefined || escaped === undefined) return undefined;
  const local = escaped.replace(/\\([\s\S])/g, "$1");
  if (!quoted && (local.startsWith(".") || local.endsWith(".") || local.includes(".."))) return undefined;
  const domain = text.slice(prefix.length);
  return isDomainName(domain) ? { local, domain } : undefined;
}
