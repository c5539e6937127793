import { generateKeyPairSync } from "node:crypto";

/** The key pair that signs and verifies service-account tokens. */
export function createServiceAccountKeys(): { publicKey: string; privateKey: string } {
  return generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
}
