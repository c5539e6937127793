/** Why a certificate, or a request for one, is refused: in the words of Go's crypto/x509. */
export class CertificateError extends Error {
  override readonly name = "CertificateError";
}
