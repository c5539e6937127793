import { quoted } from "@konverge/core";
import type { Certificate } from "../read/certificate.ts";
import { timeText } from "../read/certificate-time.ts";
import type { CertPool } from "./cert-pool.ts";
import { issuerProblem } from "./signature.ts";

/** A certificate, the authorities above it, and a trusted one at the end. */
export type Chain = readonly Certificate[];

export interface ChainOptions {
  readonly roots: CertPool;
  readonly intermediates: CertPool;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** What was built; without chains, why there are none. */
export interface BuiltChains {
  readonly chains: readonly Chain[];
  readonly problem: string | undefined;
}

/** How many signatures are checked at most: what a server sends must not keep us busy. */
const MOST_CHECKS = 100;
const TOO_MANY_CHECKS = "x509: signature check attempts limit reached while verifying certificate chain";

/** All chains from a certificate to a trusted one. */
export function buildChains(leaf: Certificate, options: ChainOptions): BuiltChains {
  return extended([leaf], options, { checks: 0 });
}

function extended(chain: Chain, options: ChainOptions, budget: { checks: number }): BuiltChains {
  const last = chain.at(-1)!;
  const chains: Chain[] = [];
  let problem: string | undefined;
  let hint: { why: string; candidate: Certificate } | undefined;
  const candidates = [
    ...options.roots.possibleIssuers(last).map((candidate) => ({ candidate, isRoot: true })),
    ...options.intermediates.possibleIssuers(last).map((candidate) => ({ candidate, isRoot: false })),
  ];
  for (const { candidate, isRoot } of candidates) {
    if (++budget.checks > MOST_CHECKS) {
      problem = TOO_MANY_CHECKS;
      break;
    }
    if (!candidate.publicKey || isIn(chain, candidate)) continue;
    const unsigned = issuerProblem(last, candidate);
    if (unsigned) {
      hint ??= { why: unsigned, candidate };
      continue;
    }
    // The problem of the last candidate that did sign is the one to report.
    problem = validityProblem(candidate, options.now, { chain, isRoot });
    if (problem) {
      hint ??= { why: problem, candidate };
      continue;
    }
    if (isRoot) chains.push([...chain, candidate]);
    else {
      const above = extended([...chain, candidate], options, budget);
      chains.push(...above.chains);
      problem = above.problem;
      if (problem === TOO_MANY_CHECKS) break;
    }
  }
  if (chains.length > 0) return { chains, problem: undefined };
  return { chains, problem: problem ?? unknownAuthority(hint) };
}

function unknownAuthority(hint: { why: string; candidate: Certificate } | undefined): string {
  const problem = "x509: certificate signed by unknown authority";
  if (!hint) return problem;
  const { subject, serialNumber } = hint.candidate;
  const name = subject.commonName || (subject.organizations[0] ?? `serial:${serialNumber}`);
  const why = `possibly because of ${quoted(hint.why)} while trying to verify candidate authority certificate`;
  return `${problem} (${why} ${quoted(name)})`;
}

/**
 * Whether a chain has a certificate of the same subject, key and names: authorities that signed each other would be followed
 * forever.
 */
function isIn(chain: Chain, candidate: Certificate): boolean {
  for (const { subject, rawPublicKey, rawNames } of chain) {
    if (!candidate.subject.raw.equals(subject.raw) || !candidate.rawPublicKey.equals(rawPublicKey)) continue;
    if (!candidate.rawNames || !rawNames) return candidate.rawNames === rawNames;
    if (candidate.rawNames.equals(rawNames)) return true;
  }
  return false;
}

/** Why a certificate is not valid, as a leaf or as the next one of a chain. */
export function validityProblem(
  certificate: Certificate,
  now: number,
  place?: { readonly chain: Chain; readonly isRoot: boolean },
): string | undefined {
  const { unhandled, notBefore, notAfter, basicConstraints } = certificate;
  if (unhandled.length > 0) return "x509: unhandled critical extension";
  const expired = (relation: string, { text }: { text: string }) =>
    `x509: certificate has expired or is not yet valid: current time ${timeText(now)} is ${relation} ${text}`;
  if (now < notBefore.at) return expired("before", notBefore);
  if (now > notAfter.at) return expired("after", notAfter);
  if (!place) return undefined;
  if (!place.isRoot && !basicConstraints?.isCa) {
    return "x509: certificate is not authorized to sign other certificates";
  }
  const { pathLength } = basicConstraints ?? {};
  if (pathLength !== undefined && place.chain.length - 1 > pathLength) {
    return "x509: too many intermediates for path length constraint";
  }
  return undefined;
}
