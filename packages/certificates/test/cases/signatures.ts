import * as der from "../../src/der/write.ts";
import * as id from "../../src/identifiers.ts";
import { ecKeys, ed25519Keys, type Keys, rsaKeys, SIGNINGS, type Signing } from "../make-certificate.ts";
import type { VerifyCase } from "../verify-case.ts";
import { authority, below, caseOf, pair, serverBelow } from "./case-of.ts";

const RSA = { large: rsaKeys(2048), smallest: rsaKeys(1024), small: rsaKeys(768) };

/** How certificates are signed, and with which keys. */
export function signatureCases(): VerifyCase[] {
  const signed = (title: string, keys: Keys, signing?: Signing) =>
    pair(`signed with ${title}`, { keys }, signing ? { signing } : {});
  const ec = ecKeys();
  const rsaRoot = authority({ keys: RSA.large });
  const oldMiddle = below(rsaRoot, { signing: SIGNINGS.rsaSha1 });
  return [
    signed("ECDSA and SHA-256", ec),
    signed("ECDSA and SHA-384", ecKeys("secp384r1"), SIGNINGS.ecdsaSha384),
    signed("ECDSA and SHA-512", ecKeys("secp521r1"), SIGNINGS.ecdsaSha512),
    signed("ECDSA and SHA-256 on P-224", ecKeys("secp224r1")),
    signed("ECDSA on a curve that is not known", ecKeys("secp256k1")),
    signed("ECDSA and SHA-1", ec, SIGNINGS.ecdsaSha1),
    signed("RSA and SHA-256", RSA.large),
    signed("RSA and SHA-512", RSA.large, SIGNINGS.rsaSha512),
    signed("RSA and SHA-1", RSA.large, SIGNINGS.rsaSha1),
    signed("RSA and MD5", RSA.large, SIGNINGS.rsaMd5),
    signed("RSA-PSS", RSA.large, SIGNINGS.pss(32)),
    signed("RSA-PSS and a short salt", RSA.large, SIGNINGS.pss(20)),
    signed("RSA of 1024 bits", RSA.smallest),
    signed("RSA of 768 bits", RSA.small),
    signed("Ed25519", ed25519Keys()),
    signed("Ed25519 with parameters", ed25519Keys(), SIGNINGS.ed25519WithParameters),
    signed("something unknown", ec, SIGNINGS.unknown),
    pair(
      "RSA, but the authority has an EC key",
      { keys: ec },
      {
        signing: { ...SIGNINGS.rsaSha256, sign: SIGNINGS.ecdsaSha256.sign },
      },
    ),
    pair(
      "ECDSA, but the authority has an RSA key",
      { keys: RSA.large },
      {
        signing: { ...SIGNINGS.ecdsaSha256, sign: SIGNINGS.rsaSha256.sign },
      },
    ),
    pair(
      "RSA, but the authority has an Ed25519 key",
      { keys: ed25519Keys() },
      {
        signing: { ...SIGNINGS.rsaSha256, sign: SIGNINGS.ed25519.sign },
      },
    ),
    pair("a forged RSA signature", { keys: RSA.large }, { forged: true }),
    pair("a forged Ed25519 signature", { keys: ed25519Keys() }, { forged: true }),
    pair("a server with an RSA key of 768 bits", {}, { keys: RSA.small }),
    caseOf("an intermediate signed with SHA-1", { chain: [serverBelow(oldMiddle), oldMiddle], roots: [rsaRoot] }),
    caseOf(
      "a root signed with SHA-1",
      (() => {
        const root = authority({ keys: RSA.large, signing: SIGNINGS.rsaSha1 });
        return { chain: [serverBelow(root)], roots: [root] };
      })(),
    ),
    pair("different algorithms inside and outside", {}, { outerAlgorithm: SIGNINGS.ecdsaSha384.algorithm }),
    pair(
      "an RSA key without parameters",
      {},
      { publicKey: der.sequence(der.sequence(der.identifier(id.RSA_KEY)), rsaBits()) },
    ),
    pair(
      "an RSA key that is no number",
      {},
      {
        publicKey: der.sequence(
          der.sequence(der.identifier(id.RSA_KEY), der.nothing()),
          der.bitString(Buffer.from([1, 2])),
        ),
      },
    ),
    pair(
      "an RSA key with a negative modulus",
      {},
      {
        publicKey: der.sequence(
          der.sequence(der.identifier(id.RSA_KEY), der.nothing()),
          der.bitString(der.sequence(Buffer.from([2, 1, 0xff]), der.integer(Buffer.from([3])))),
        ),
      },
    ),
    pair(
      "an RSA key with a huge exponent",
      {},
      {
        publicKey: der.sequence(
          der.sequence(der.identifier(id.RSA_KEY), der.nothing()),
          der.bitString(der.sequence(der.integer(Buffer.alloc(256, 0x55)), der.integer(Buffer.alloc(9, 0x55)))),
        ),
      },
    ),
    pair("an EC key on an unknown curve", {}, { publicKey: ecKey("1.3.132.0.10", Buffer.alloc(65, 4)) }),
    pair(
      "an EC key without a curve",
      {},
      { publicKey: der.sequence(der.sequence(der.identifier(id.EC_KEY)), der.bitString(Buffer.from([4]))) },
    ),
    pair("an EC key that is compressed", {}, { publicKey: ecKey(P256, Buffer.alloc(33, 2)) }),
    pair("an EC key of the wrong length", {}, { publicKey: ecKey(P256, Buffer.alloc(64, 4)) }),
    pair("an EC key that is not on its curve", {}, { publicKey: ecKey(P256, Buffer.alloc(65, 4)) }),
    pair(
      "an Ed25519 key of the wrong length",
      {},
      {
        publicKey: der.sequence(der.sequence(der.identifier(id.ED25519)), der.bitString(Buffer.alloc(31))),
      },
    ),
    pair(
      "an Ed25519 key with parameters",
      {},
      {
        publicKey: der.sequence(
          der.sequence(der.identifier(id.ED25519), der.nothing()),
          der.bitString(Buffer.alloc(32)),
        ),
      },
    ),
    pair(
      "a key of an unknown algorithm",
      {},
      {
        publicKey: der.sequence(der.sequence(der.identifier("1.2.3.4")), der.bitString(Buffer.alloc(8))),
      },
    ),
    pair(
      "an authority with a key of an unknown algorithm",
      {
        publicKey: der.sequence(der.sequence(der.identifier("1.2.3.4")), der.bitString(Buffer.alloc(8))),
      },
      {},
    ),
  ];
}

const P256 = "1.2.840.10045.3.1.7";

function ecKey(curve: string, point: Buffer): Buffer {
  return der.sequence(der.sequence(der.identifier(id.EC_KEY), der.identifier(curve)), der.bitString(point));
}

function rsaBits(): Buffer {
  return der.bitString(der.sequence(der.integer(Buffer.alloc(256, 0x55)), der.integer(Buffer.from([1, 0, 1]))));
}
