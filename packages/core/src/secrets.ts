import { randomInt } from "node:crypto";
import type { Random } from "./random.ts";

/**
 * The source of passwords, tokens and keys. It is separate from {@link Random}, which can be seeded and whose values
 * are public: names of events, UUIDs and delays.
 */
export interface SecretSource {
  /**
   * `length` characters, each of the alphabet equally likely. Default: letters and digits that are easy to distinguish.
   */
  text(length: number, alphabet?: string): string;
}

/** 56 characters: 24 of them are 139 bits. */
const ALPHABET = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";

/** Secrets that cannot be predicted: node:crypto's generator, which no seed reaches. */
export const cryptographicSecrets: SecretSource = secretsFrom((bound) => randomInt(bound));

/** Predictable secrets, so that a run in virtual time can be repeated. Never for a real cluster. */
export function predictableSecrets(random: Random): SecretSource {
  return secretsFrom((bound) => random.below(bound));
}

function secretsFrom(below: (bound: number) => number): SecretSource {
  return {
    text: (length, alphabet = ALPHABET) => Array.from({ length }, () => alphabet[below(alphabet.length)]).join(""),
  };
}
