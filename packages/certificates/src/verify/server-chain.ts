import { CertificateError } from "../certificate-error.ts";
import { type Certificate, parseCertificate } from "../read/certificate.ts";
import { CertPool } from "./cert-pool.ts";
import { rsaProblem } from "./signature.ts";
import { verifyProblem } from "./verify.ts";

export interface ServerChainOptions {
  /** The authorities that are trusted. Undefined: any certificate will do, as long as it can be read. */
  readonly roots: CertPool | undefined;
  /** The name or address by which the server was called. */
  readonly host: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Larger RSA keys take too long to check. */
const MOST_RSA_BITS = 8192;

/**
 * Why a client should not speak to a server that has shown these certificates (DER, its own first); undefined when it may.
 * In the words of Go's crypto/tls, whose clients check the same.
 */
export function serverChainProblem(chain: readonly Buffer[], options: ServerChainOptions): string | undefined {
  const certificates: Certificate[] = [];
  for (const bytes of chain) {
    try {
      certificates.push(parseCertificate(bytes));
    } catch (error) {
      if (!(error instanceof CertificateError)) throw error;
      return `tls: failed to parse certificate from server: ${error.message}`;
    }
    if ((certificates.at(-1)!.publicKey?.rsa?.bits ?? 0) > MOST_RSA_BITS) {
      return `tls: server sent certificate containing RSA key larger than ${MOST_RSA_BITS} bits`;
    }
  }
  const [own, ...others] = certificates;
  if (!own) return "tls: received empty certificates message";
  const { roots, host, now } = options;
  if (roots) {
    const problem = verifyProblem(own, { roots, intermediates: new CertPool(others), host, now });
    if (problem) return `tls: failed to verify certificate: ${problem}`;
  }
  const weakness = own.publicKey && rsaProblem(own.publicKey);
  return weakness && `tls: invalid signature by the server certificate: ${weakness}`;
}
