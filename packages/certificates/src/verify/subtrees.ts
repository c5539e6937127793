/**
 * Sets of constraints that are searched by halving, as Go does, so that the same one of several that match is reported, and
 * a certificate with thousands of names does not keep us busy.
 */
import { unmapped } from "../addresses.ts";
import { type Mailbox, parseMailbox } from "../domain-names.ts";
import type { AddressRange } from "../read/name-constraints.ts";

/** Finds the constraint that a name is under. */
export type Find<N, C> = (name: N) => C | undefined;

interface Rules<N, C> {
  /** The order of constraints: one that contains another comes right before it and what else it contains. */
  compare(a: C, b: C): number;
  /** The same order between a constraint and a name. */
  compareTo(constraint: C, name: N): number;
  contains(a: C, b: C): boolean;
  matches(constraint: C, name: N): boolean;
}

/** In their order, without those that others contain. */
function pruned<N, C>(constraints: readonly C[], rules: Rules<N, C>): C[] {
  const set: C[] = [];
  for (const one of constraints.toSorted(rules.compare)) {
    const last = set.at(-1);
    if (last === undefined || !rules.contains(last, one)) set.push(one);
  }
  return set;
}

function finder<N, C>(set: readonly C[], rules: Rules<N, C>): Find<N, C> {
  return (name) => {
    let [low, high] = [0, set.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (rules.compareTo(set[middle]!, name) < 0) low = middle + 1;
      else high = middle;
    }
    const at = set[low];
    if (at !== undefined && rules.compareTo(at, name) === 0) return at;
    const before = set[Math.max(0, low - 1)];
    return before !== undefined && rules.matches(before, name) ? before : undefined;
  };
}

const contains = ({ address, mask }: AddressRange, other: Uint8Array): boolean => {
  const [network, target] = [unmapped(address), unmapped(other)];
  const bits = mask.subarray(mask.length - network.length);
  return network.length === target.length && network.every((byte, i) => ((byte ^ target[i]!) & bits[i]!) === 0);
};

const ADDRESS_RULES: Rules<Buffer, AddressRange> = {
  compare: (a, b) => Buffer.compare(a.address, b.address) || Buffer.compare(a.mask, b.mask),
  compareTo: ({ address }, target) => Buffer.compare(address, target),
  contains: (a, b) =>
    contains(a, b.address) &&
    contains(
      a,
      b.address.map((byte, i) => byte | (~b.mask[i]! & 0xff)),
    ),
  matches: contains,
};

/** Ranges of IP addresses; the two families have nothing in common. */
export function addressSubtrees(ranges: readonly AddressRange[]): Find<Buffer, AddressRange> | undefined {
  if (ranges.length === 0) return undefined;
  const ofSize = (size: number) => {
    const family = ranges.filter(({ address }) => address.length === size);
    return finder(pruned(family, ADDRESS_RULES), ADDRESS_RULES);
  };
  const [short, long] = [ofSize(4), ofSize(16)];
  return (address) => (address.length === 4 ? short : long)(address);
}

/** From the last character to the first, the dot before all others: what is below a domain follows it directly. */
function compareDomains(a: string, b: string): number {
  const [left, right] = [sortKey(a), sortKey(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}

const sortKey = (domain: string) => [...domain.toLowerCase().replaceAll(".", "\0")].reverse().join("");

/** Whether a name is a domain or below it. Below alone, if the constraint begins with a dot. */
function isWithin(constraint: string, name: string): boolean {
  const [domain, full] = [constraint.toLowerCase(), name.toLowerCase()];
  if (!full.endsWith(domain)) return false;
  return domain.startsWith(".") || full.length === domain.length || full[full.length - domain.length - 1] === ".";
}

const DOMAIN_RULES: Rules<string, string> = {
  compare: compareDomains,
  compareTo: compareDomains,
  contains: isWithin,
  matches: isWithin,
};

/** Domains. An excluded one also excludes the wildcard that would stand for it. */
export function domainSubtrees(domains: readonly string[], isExcluded: boolean): Find<string, string> | undefined {
  if (domains.length === 0) return undefined;
  if (domains.includes("")) return () => "";
  const set = pruned(domains, DOMAIN_RULES);
  const find = finder(set, DOMAIN_RULES);
  const parents = new Map(isExcluded ? set.map((one) => [parentOf(one.toLowerCase()), one.toLowerCase()]) : []);
  parents.delete("");
  return (name) => find(name) ?? (name.startsWith("*") ? parents.get(parentOf(name.toLowerCase())) : undefined);
}

/** `.example.com` for `www.example.com`; nothing for a single label. */
function parentOf(domain: string): string {
  const dot = domain.indexOf(".");
  return dot < 0 ? "" : domain.slice(dot);
}

/** Mail addresses: of single mailboxes, or of whole domains. */
export function mailSubtrees(constraints: readonly string[], isExcluded: boolean): Find<Mailbox, string> | undefined {
  if (constraints.length === 0) return undefined;
  const mailboxes = new Set(constraints.filter((one) => one.includes("@")).flatMap((one) => exactly(one) ?? []));
  const domains = domainSubtrees(
    constraints.filter((one) => !one.includes("@")),
    isExcluded,
  );
  return (mailbox) => {
    const text = mailboxText(mailbox);
    return mailboxes.has(text) ? text : domains?.(mailbox.domain);
  };
}

function exactly(constraint: string): string | undefined {
  const mailbox = parseMailbox(constraint);
  return mailbox && mailboxText({ ...mailbox, domain: mailbox.domain.toLowerCase() });
}

export const mailboxText = ({ local, domain }: Mailbox) => `${local}@${domain}`;
