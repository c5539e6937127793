import { CertificateError } from "../certificate-error.ts";
import { DerReader, fieldOf } from "../der/read.ts";
import { ED25519, MASK_GENERATION_1, RSA_PSS } from "../identifiers.ts";

/** An algorithm, and its parameters in DER. */
export interface AlgorithmIdentifier {
  readonly id: string;
  readonly parameters: Buffer | undefined;
}

export type KeyAlgorithm = "RSA" | "DSA" | "ECDSA" | "Ed25519";

/** How something was signed. */
export interface SignatureAlgorithm {
  /** Go's name for it. */
  readonly name: string;
  readonly key: KeyAlgorithm;
  /** Undefined: the message itself is signed. */
  readonly hash: string | undefined;
  readonly isPss?: boolean;
}

export const NULL = Buffer.from([0x05, 0x00]);

const ALGORITHMS: Readonly<Record<string, SignatureAlgorithm>> = {
  "1.2.840.113549.1.1.4": { name: "MD5-RSA", key: "RSA", hash: "md5" },
  "1.2.840.113549.1.1.5": { name: "SHA1-RSA", key: "RSA", hash: "sha1" },
  "1.3.14.3.2.29": { name: "SHA1-RSA", key: "RSA", hash: "sha1" },
  "1.2.840.113549.1.1.11": { name: "SHA256-RSA", key: "RSA", hash: "sha256" },
  "1.2.840.113549.1.1.12": { name: "SHA384-RSA", key: "RSA", hash: "sha384" },
  "1.2.840.113549.1.1.13": { name: "SHA512-RSA", key: "RSA", hash: "sha512" },
  "1.2.840.10040.4.3": { name: "DSA-SHA1", key: "DSA", hash: "sha1" },
  "2.16.840.1.101.3.4.3.2": { name: "DSA-SHA256", key: "DSA", hash: "sha256" },
  "1.2.840.10045.4.1": { name: "ECDSA-SHA1", key: "ECDSA", hash: "sha1" },
  "1.2.840.10045.4.3.2": { name: "ECDSA-SHA256", key: "ECDSA", hash: "sha256" },
  "1.2.840.10045.4.3.3": { name: "ECDSA-SHA384", key: "ECDSA", hash: "sha384" },
  "1.2.840.10045.4.3.4": { name: "ECDSA-SHA512", key: "ECDSA", hash: "sha512" },
  [ED25519]: { name: "Ed25519", key: "Ed25519", hash: undefined },
};

const PSS: Readonly<Record<string, SignatureAlgorithm & { saltLength: bigint }>> = {
  "2.16.840.1.101.3.4.2.1": { name: "SHA256-RSAPSS", key: "RSA", hash: "sha256", isPss: true, saltLength: 32n },
  "2.16.840.1.101.3.4.2.2": { name: "SHA384-RSAPSS", key: "RSA", hash: "sha384", isPss: true, saltLength: 48n },
  "2.16.840.1.101.3.4.2.3": { name: "SHA512-RSAPSS", key: "RSA", hash: "sha512", isPss: true, saltLength: 64n },
};

export function readAlgorithm(der: DerReader): AlgorithmIdentifier {
  const id = der.identifier("x509: malformed OID");
  return { id, parameters: der.isEmpty ? undefined : der.next("x509: malformed parameters").raw };
}

/** The algorithm of a signature, if it is one that is known. */
export function signatureAlgorithmOf({ id, parameters }: AlgorithmIdentifier): SignatureAlgorithm | undefined {
  if (id === ED25519 && parameters) return undefined;
  if (id !== RSA_PSS) return ALGORITHMS[id];
  try {
    return parameters && pssAlgorithm(new DerReader(parameters));
  } catch (error) {
    if (error instanceof CertificateError) return undefined;
    throw error;
  }
}

/** PSS with the same hash for the message and the mask, and a salt as long as that hash. */
function pssAlgorithm(der: DerReader): SignatureAlgorithm | undefined {
  const problem = "x509: malformed parameters";
  const parameters = der.sequence(problem);
  const algorithm = (number: number) => readAlgorithm(parameters.inside(fieldOf(number), problem).sequence(problem));
  const hash = algorithm(0);
  const mask = algorithm(1);
  const saltLength = parameters.inside(fieldOf(2), problem).int(problem);
  const trailer = parameters.optional(fieldOf(3), problem)?.int(problem) ?? 1n;
  const maskHash = readAlgorithm(new DerReader(mask.parameters ?? Buffer.alloc(0)).sequence(problem));
  const found = PSS[hash.id];
  const isUsual =
    mask.id === MASK_GENERATION_1 && maskHash.id === hash.id && saltLength === found?.saltLength && trailer === 1n;
  return isUsual && [hash, maskHash].every(isWithoutParameters) ? found : undefined;
}

function isWithoutParameters({ parameters }: AlgorithmIdentifier): boolean {
  return parameters === undefined || parameters.equals(NULL);
}
