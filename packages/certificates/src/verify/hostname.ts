import { parseIp } from "@konverge/core";
import { addressText, sameAddress } from "../addresses.ts";
import type { Certificate } from "../read/certificate.ts";

/** Messages list fewer names than this. */
const MOST_NAMES = 100;

/**
 * Why a certificate is not for a host; undefined when it is. An address has to be among its IP addresses, a name among its
 * DNS names; the common name does not count.
 */
export function hostnameProblem(certificate: Certificate, host: string): string | undefined {
  const { names } = certificate;
  const bare = /^\[(.+)\]$/s.exec(host)?.[1] ?? host;
  const address = addressOf(bare);
  if (address) {
    if (names.addresses.some((one) => sameAddress(one, address))) return undefined;
    return mismatch(certificate, bare);
  }
  const name = lowerCase(host);
  const labels = labelsOf(name);
  const isHostname = isValidHostname(name.replace(/\.$/, ""), false);
  const matches = (pattern: string) =>
    isHostname && isValidHostname(pattern, true) ? matchesLabels(pattern, labels) : matchesExactly(pattern, name);
  return names.dns.some(matches) ? undefined : mismatch(certificate, host);
}

/** The bytes of an IP address without a zone. */
function addressOf(text: string): Uint8Array | undefined {
  const address = parseIp(text);
  return typeof address === "string" || address.zone !== "" ? undefined : address.bytes;
}

function mismatch({ names, subject, rawNames }: Certificate, host: string): string {
  if (!rawNames && matchesLabels(subject.commonName, labelsOf(host))) {
    return "x509: certificate relies on legacy Common Name field, use SANs instead";
  }
  const isAddress = addressOf(host) !== undefined;
  if (isAddress && names.addresses.length === 0) {
    return `x509: cannot validate certificate for ${host} because it doesn't contain any IP SANs`;
  }
  const list = isAddress ? names.addresses.map(addressText) : names.dns;
  if (list.length >= MOST_NAMES) {
    return `x509: certificate is valid for ${list.length} ${isAddress ? "IP SANs" : "names"}, but none matched ${host}`;
  }
  const valid = list.join(", ");
  if (valid === "") return `x509: certificate is not valid for any names, but wanted to match ${host}`;
  return `x509: certificate is valid for ${valid}, not ${host}`;
}

/** Letters, digits, `-` (not first) and `_` in each label; a pattern may have `*` as its first label. */
function isValidHostname(text: string, isPattern: boolean): boolean {
  if (text === "*") return false;
  return text
    .split(".")
    .every((label, i) => (isPattern && i === 0 && label === "*") || /^[A-Za-z0-9_][A-Za-z0-9_-]*$/.test(label));
}

function matchesLabels(pattern: string, labels: readonly string[]): boolean {
  if (pattern === "") return false;
  const expected = lowerCase(pattern).split(".");
  return expected.length === labels.length && expected.every((one, i) => (i === 0 && one === "*") || one === labels[i]);
}

/** For names that are no hostnames, such as those with other characters. */
function matchesExactly(pattern: string, name: string): boolean {
  return pattern !== "" && pattern !== "." && name !== "" && name !== "." && lowerCase(pattern) === name;
}

const labelsOf = (host: string) => lowerCase(host.replace(/\.$/, "")).split(".");
const lowerCase = (text: string) => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
