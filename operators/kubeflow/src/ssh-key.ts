import { createECDH, createPrivateKey } from "node:crypto";
import type { SecretSource } from "konverge/time";

const CURVE = "nistp521";
const ALGORITHM = `ecdsa-sha2-${CURVE}`;
/** 520 random bits are always less than the order of the curve. */
const DIGITS = 130;
/** Bytes of a coordinate of the curve. */
const COORDINATE = 66;

/** A pair of keys as SSH reads them: the private one as PEM, the public one as a line of `authorized_keys`. */
export interface SshKey {
  readonly privateKey: string;
  readonly publicKey: string;
}

/** A new ECDSA key on the curve P-521, which upstream uses, too. */
export function newSshKey(secrets: SecretSource): SshKey {
  const scalar = Buffer.from(secrets.text(DIGITS, "0123456789abcdef").padStart(2 * COORDINATE, "0"), "hex");
  const curve = createECDH("secp521r1");
  curve.setPrivateKey(scalar);
  // One byte that says that both coordinates follow, and they.
  const point = curve.getPublicKey();
  const [x, y] = [point.subarray(1, 1 + COORDINATE), point.subarray(1 + COORDINATE)];
  const text = (bytes: Buffer) => bytes.toString("base64url");
  const key = createPrivateKey({
    format: "jwk",
    key: { kty: "EC", crv: "P-521", d: text(scalar), x: text(x), y: text(y) },
  });
  const blob = Buffer.concat([Buffer.from(ALGORITHM), Buffer.from(CURVE), point].map(withLength));
  return {
    privateKey: key.export({ type: "sec1", format: "pem" }) as string,
    publicKey: `${ALGORITHM} ${blob.toString("base64")}\n`,
  };
}

/** SSH writes the length of a field before it, in four bytes. */
function withLength(field: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(field.length);
  return Buffer.concat([length, field]);
}
