import { CertificateError } from "../certificate-error.ts";
import { pemBlocks } from "../pem.ts";
import { type Certificate, parseCertificate } from "../read/certificate.ts";

/** Certificates, found by their subjects. */
export class CertPool {
  readonly #bySubject = new Map<string, Certificate[]>();
  readonly #known = new Set<string>();

  constructor(certificates: Iterable<Certificate> = []) {
    for (const one of certificates) this.add(one);
  }

  /** Adds a certificate, unless it is there. */
  add(certificate: Certificate): void {
    const raw = text(certificate.raw);
    if (this.#known.has(raw)) return;
    this.#known.add(raw);
    const subject = text(certificate.subject.raw);
    this.#bySubject.set(subject, [...(this.#bySubject.get(subject) ?? []), certificate]);
  }

  has({ raw }: Certificate): boolean {
    return this.#known.has(text(raw));
  }

  /**
   * The certificates that may have issued another, the most likely first: those with the key that it names, then those
   * where one of the two does not say, then those that name different keys.
   */
  possibleIssuers({ issuer, authorityKeyId }: Certificate): Certificate[] {
    const rank = ({ subjectKeyId }: Certificate) => {
      const [wanted, own] = [authorityKeyId ?? NONE, subjectKeyId ?? NONE];
      if (wanted.equals(own)) return 0;
      return wanted.length === 0 || own.length === 0 ? 1 : 2;
    };
    const candidates = this.#bySubject.get(text(issuer.raw)) ?? [];
    return candidates.toSorted((a, b) => rank(a) - rank(b));
  }
}

const NONE = Buffer.alloc(0);
const text = (bytes: Buffer) => bytes.toString("latin1");

/**
 * The certificates in a PEM text, as client-go loads the authorities that a client trusts: blocks that are no certificates
 * are skipped, but one certificate at least has to be good.
 */
export function certPoolFromPem(pem: string): CertPool {
  const blocks = pemBlocks(pem);
  const pool = new CertPool();
  let problem: string | undefined;
  let isEmpty = true;
  for (const { bytes } of blocks.filter(({ type, hasHeaders }) => type === "CERTIFICATE" && !hasHeaders)) {
    try {
      pool.add(parseCertificate(bytes));
      isEmpty = false;
    } catch (error) {
      if (!(error instanceof CertificateError)) throw error;
      problem ??= `failed to parse certificate: ${error.message}`;
    }
  }
  if (!isEmpty) return pool;
  problem ??= blocks.length === 0 ? "unable to parse bytes as PEM block" : "no valid certificate authority data seen";
  throw new CertificateError(`unable to load root certificates: ${problem}`);
}
