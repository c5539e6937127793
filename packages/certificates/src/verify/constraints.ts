import { type GoUrl, parseIp, quoted } from "@konverge/core";
import { addressText, unmapped } from "../addresses.ts";
import { isDomainName, type Mailbox, parseMailbox } from "../domain-names.ts";
import type { Certificate } from "../read/certificate.ts";
import type { AddressRange, NameConstraints, NameSubtrees } from "../read/name-constraints.ts";
import type { Chain } from "./build-chains.ts";
import { addressSubtrees, domainSubtrees, type Find, mailboxText, mailSubtrees } from "./subtrees.ts";

interface CheckedUri {
  readonly text: string;
  readonly domain: string;
}

/** The names of a certificate in the form that constraints are compared with. */
interface CheckedNames {
  readonly addresses: readonly Buffer[];
  readonly dns: readonly string[];
  readonly uris: readonly CheckedUri[];
  readonly emails: readonly Mailbox[];
}

/** Thrown where a name cannot be compared. */
class NameProblem extends Error {}

/** Why a name in a chain is not one that the authorities above it may sign for; undefined when all are. */
export function constraintProblem(chain: Chain): string | undefined {
  const constrained = chain.flatMap(({ constraints }, index) =>
    constraints ? [{ index, check: checker(constraints) }] : [],
  );
  try {
    for (const [index, certificate] of chain.entries()) {
      const above = constrained.filter((one) => one.index > index);
      if (above.length === 0) return undefined;
      if (!certificate.rawNames) continue;
      const names = checkedNames(certificate);
      for (const { check } of above) check(names);
    }
    return undefined;
  } catch (error) {
    if (error instanceof NameProblem) return error.message;
    throw error;
  }
}

function checkedNames({ names }: Certificate): CheckedNames {
  const { addresses, dns } = names;
  return { addresses, dns, uris: names.uris.map(checkedUri), emails: names.emails.map(checkedMailbox) };
}

function checkedUri(url: GoUrl): CheckedUri {
  const text = url.toString();
  const host = url.host.toLowerCase();
  if (host === "") throw new NameProblem(`URI with empty host (${quoted(text)}) cannot be matched against constraints`);
  const isBracketed = host.startsWith("[") && host.endsWith("]");
  const domain = host.includes(":") && !host.endsWith("]") ? url.hostname : host;
  if (domain.includes(":") && !host.startsWith("[")) {
    const why = `address ${url.host}: too many colons in address`;
    throw new NameProblem(`cannot parse URI host ${quoted(url.host)}: ${why}`);
  }
  if (isBracketed || typeof parseIp(domain) !== "string") {
    throw new NameProblem(`URI with IP (${quoted(text)}) cannot be matched against constraints`);
  }
  return { text, domain };
}

function checkedMailbox(text: string): Mailbox {
  const mailbox = parseMailbox(text);
  if (!mailbox) throw new NameProblem(`cannot parse rfc822Name ${quoted(text)}`);
  return { ...mailbox, domain: mailbox.domain.toLowerCase() };
}

/** Checks names against the constraints of one authority. */
function checker({ permitted, excluded }: NameConstraints): (names: CheckedNames) => void {
  const pair = <N, C>(of: (subtrees: NameSubtrees, isExcluded: boolean) => Find<N, C> | undefined) => ({
    permitted: of(permitted, false),
    excluded: of(excluded, true),
  });
  const addresses = pair(({ addresses }) => addressSubtrees(addresses));
  const dns = pair((subtrees, isExcluded) => domainSubtrees(subtrees.dns, isExcluded));
  const uris = pair((subtrees, isExcluded) => domainSubtrees(subtrees.uris, isExcluded));
  const emails = pair((subtrees, isExcluded) => mailSubtrees(subtrees.emails, isExcluded));
  return (names) => {
    for (const one of names.addresses) check("IP address", addresses, one, addressText(one), rangeText);
    for (const one of names.dns) {
      if (!isDomainName(one)) throw new NameProblem(`x509: cannot parse dnsName ${quoted(one)}`);
      check("DNS name", dns, one, one, String);
    }
    for (const { domain, text } of names.uris) {
      if (!isDomainName(domain)) throw new NameProblem(`x509: internal error: URI SAN ${quoted(text)} failed to parse`);
      check("URI", uris, domain, text, String);
    }
    for (const one of names.emails) {
      const text = mailboxText(one);
      if (!isDomainName(one.domain)) throw new NameProblem(`x509: cannot parse rfc822Name ${quoted(text)}`);
      check("email address", emails, one, text, String);
    }
  };
}

function check<N, C>(
  type: string,
  { permitted, excluded }: { permitted: Find<N, C> | undefined; excluded: Find<N, C> | undefined },
  name: N,
  shown: string,
  print: (constraint: C) => string,
): void {
  if (permitted && permitted(name) === undefined) {
    throw new NameProblem(`${type} ${quoted(shown)} is not permitted by any constraint`);
  }
  const found = excluded?.(name);
  if (found !== undefined) {
    throw new NameProblem(`${type} ${quoted(shown)} is excluded by constraint ${quoted(print(found))}`);
  }
}

/** `10.0.0.0/8`. */
function rangeText({ address, mask }: AddressRange): string {
  const network = unmapped(address);
  const bits = mask.subarray(mask.length - network.length);
  const ones = bits.reduce((sum, byte) => sum + byte.toString(2).replaceAll("0", "").length, 0);
  return `${addressText(network)}/${ones}`;
}
