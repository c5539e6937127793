import { type Certificate, issuerProblem, parseCertificatePem, pem, pemBlocks } from "@konverge/certificates";
import { formatIp } from "@konverge/core";

/** What a certificate says about itself. */
export interface CertificateFacts {
  readonly from: number;
  readonly until: number;
  /** DNS names and IP addresses. */
  readonly hosts: readonly string[];
  readonly signedBy: (authority: string) => boolean;
}

export function factsOf(text: string): CertificateFacts {
  const certificate = parseCertificatePem(text);
  return {
    from: certificate.notBefore.at,
    until: certificate.notAfter.at,
    hosts: hostsOf(certificate),
    signedBy: (authority) => issuerProblem(certificate, parseCertificatePem(authority)) === undefined,
  };
}

function hostsOf({ names }: Certificate): string[] {
  return [...names.dns, ...names.addresses.map((bytes) => formatIp({ bytes, zone: "" }))];
}

/** The certificates of a bundle, one by one. */
export function certificatesIn(bundle: string): string[] {
  return pemBlocks(bundle)
    .filter(({ type }) => type === "CERTIFICATE")
    .map(({ bytes }) => pem("CERTIFICATE", bytes));
}
