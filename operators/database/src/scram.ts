import { createHash, createHmac, pbkdf2Sync, timingSafeEqual } from "node:crypto";

/**
 * Verifiers of passwords (SCRAM-SHA-256, RFC 5802 and 7677) in the format of PostgreSQL. A server that gets one never gets the
 * password, so that no log can have it; and whether a role has it shows without logging in.
 */
const ITERATIONS = 4096;
const FORMAT = /^SCRAM-SHA-256\$(\d+):([A-Za-z0-9+/=]+)\$[A-Za-z0-9+/=]+:[A-Za-z0-9+/=]+$/;

/** The verifier of a password with this salt. */
export function scramVerifier(password: string, salt: Buffer, iterations = ITERATIONS): string {
  const salted = pbkdf2Sync(prepared(password), salt, iterations, 32, "sha256");
  const keyOf = (name: string) => createHmac("sha256", salted).update(name).digest();
  const stored = createHash("sha256").update(keyOf("Client Key")).digest("base64");
  return `SCRAM-SHA-256$${iterations}:${salt.toString("base64")}$${stored}:${keyOf("Server Key").toString("base64")}`;
}

/** Whether a text is a verifier already: PostgreSQL accepts one in place of a password. */
export const isVerifier = (text: string) => FORMAT.test(text);

/** Whether a verifier is that of a password. */
export function verifies(verifier: string, password: string): boolean {
  const [, iterations, salt] = FORMAT.exec(verifier) ?? [];
  if (iterations === undefined || salt === undefined) return false;
  const [given, computed] = [verifier, scramVerifier(password, Buffer.from(salt, "base64"), Number(iterations))];
  return given.length === computed.length && timingSafeEqual(Buffer.from(given), Buffer.from(computed));
}

const SPACES = /[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/g;
/** Mapped to nothing: they combine with what is before them, so that a class of characters would not match them alone. */
const NOTHING = /\u00ad|\u034f|\u1806|[\u180b-\u180d]|\u200b|\u200c|\u200d|\u2060|[\ufe00-\ufe0f]|\ufeff/g;

/** SASLprep (RFC 4013), as clients prepare what a user enters. */
function prepared(password: string): string {
  return /^[\x20-\x7e]*$/.test(password)
    ? password
    : password.replaceAll(SPACES, " ").replaceAll(NOTHING, "").normalize("NFKC");
}
