import { CertificateError } from "../src/certificate-error.ts";
import { parseCertificate } from "../src/read/certificate.ts";
import { CertPool } from "../src/verify/cert-pool.ts";
import { verifyProblem } from "../src/verify/verify.ts";

/** A server's certificates, who is trusted, and the question whether the server is. */
export interface VerifyCase {
  readonly title: string;
  /** DER; the server's own first. */
  readonly chain: readonly Buffer[];
  readonly roots: readonly Buffer[];
  readonly host: string;
  /** RFC 3339. */
  readonly time: string;
}

/** Our answer, in the form of Go's: empty when the server is trusted. */
export function ourAnswer({ chain, roots, host, time }: VerifyCase): string {
  const pool = new CertPool(roots.flatMap((raw) => parsed(raw) ?? []));
  let certificates: ReturnType<typeof parseCertificate>[];
  try {
    certificates = chain.map((raw) => parseCertificate(raw));
  } catch (error) {
    return `parse: ${(error as Error).message}`;
  }
  const [leaf, ...others] = certificates;
  const intermediates = new CertPool(others);
  const problem = verifyProblem(leaf!, { roots: pool, intermediates, host, now: Date.parse(time) });
  return problem === undefined ? "" : `verify: ${problem}`;
}

function parsed(raw: Buffer): ReturnType<typeof parseCertificate> | undefined {
  try {
    return parseCertificate(raw);
  } catch (error) {
    if (error instanceof CertificateError) return undefined;
    throw error;
  }
}
