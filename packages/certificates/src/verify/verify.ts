import { ANY_PURPOSE, SERVER_AUTH } from "../identifiers.ts";
import type { Certificate } from "../read/certificate.ts";
import { buildChains, type Chain, type ChainOptions, validityProblem } from "./build-chains.ts";
import { constraintProblem } from "./constraints.ts";
import { hostnameProblem } from "./hostname.ts";
import { hasValidPolicies } from "./policies.ts";

export interface VerifyOptions extends ChainOptions {
  /** The name or address of the server. Empty: any. */
  readonly host: string;
  /** What the certificate has to be for. Default: servers. */
  readonly purpose?: string;
}

/**
 * Why a server's certificate is not to be trusted, in the words of Go's crypto/x509; undefined when it is.
 *
 * The rules are Go's (`Certificate.Verify`), which differ from OpenSSL's: every certificate among the roots is trusted as
 * such, self-signed or not, authority or not; candidates are tried until a signature fits, whatever their key identifiers
 * say; names count only as alternative names; SHA-1 and small RSA keys are refused. Revocation is not checked.
 */
export function verifyProblem(certificate: Certificate, options: VerifyOptions): string | undefined {
  const { host, now, roots, purpose = SERVER_AUTH } = options;
  const own = validityProblem(certificate, now) ?? (host === "" ? undefined : hostnameProblem(certificate, host));
  if (own) return own;
  const { chains, problem } = roots.has(certificate)
    ? { chains: [[certificate]], problem: undefined }
    : buildChains(certificate, options);
  return chains.length === 0 ? problem : chainsProblem(chains, purpose);
}

/** Why none of the chains is good; undefined when one is. */
function chainsProblem(chains: readonly Chain[], purpose: string): string | undefined {
  let [badPolicies, badUsages] = [0, 0];
  let constrained: string | undefined;
  for (const chain of chains) {
    if (!hasValidPolicies(chain)) badPolicies++;
    else if (!chain.every((one) => isFor(one, purpose))) badUsages++;
    else {
      const problem = constraintProblem(chain);
      if (problem === undefined) return undefined;
      constrained ??= problem;
    }
  }
  if (constrained !== undefined) {
    return `x509: a root or intermediate certificate is not authorized to sign for this name: ${constrained}`;
  }
  if (badPolicies === 0) return "x509: certificate specifies an incompatible key usage";
  const details = [
    ...(badUsages > 0 ? [`${badUsages} candidate chains with incompatible key usage`] : []),
    `${badPolicies} candidate chains with invalid policies`,
  ];
  return `x509: no valid chains built: ${details.join(", ")}`;
}

/** Purposes are nested: what an authority is not for, the certificates below it are not for either. */
function isFor({ purposes }: Certificate, purpose: string): boolean {
  return purposes.length === 0 || purposes.includes(ANY_PURPOSE) || purposes.includes(purpose);
}
