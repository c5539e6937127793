import { type Made, type Making, make } from "../make-certificate.ts";
import type { VerifyCase } from "../verify-case.ts";

export const NOW = "2026-06-01T12:00:00Z";
export const HOST = "server.example.com";

export interface CaseParts {
  readonly chain: readonly Made[];
  readonly roots: readonly Made[];
  readonly host?: string;
  readonly time?: string;
}

export function caseOf(title: string, { chain, roots, host = HOST, time = NOW }: CaseParts): VerifyCase {
  return { title, chain: chain.map(({ raw }) => raw), roots: roots.map(({ raw }) => raw), host, time };
}

export const authority = (making: Making = {}) => make({ subject: "root", ca: true, ...making });
export const below = (issuer: Made, making: Making = {}) =>
  make({ subject: "intermediate", ca: true, issuer, ...making });
export const serverBelow = (issuer: Made, making: Making = {}) => make({ hosts: [HOST], issuer, ...making });

/** The root of most cases, where nothing is unusual about it. */
const PLAIN_ROOT = authority();

/** A server right below a trusted authority, both with what is unusual about them. */
export function pair(title: string, root: Making, server: Making, more: Partial<CaseParts> = {}): VerifyCase {
  const trusted = Object.keys(root).length > 0 ? authority(root) : PLAIN_ROOT;
  return caseOf(title, { chain: [serverBelow(trusted, server)], roots: [trusted], ...more });
}
