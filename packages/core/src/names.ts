import { toGoJson } from "./go-text.ts";
import { NAME_LETTERS, nameSuffix, type Random } from "./random.ts";

/** The longest name that can be a label of DNS, or the value of a label. */
export const LONGEST_NAME = 63;

/** What a server makes of a generateName: its first 58 characters, and five letters by chance. */
export function generateName(prefix: string, random: Random): string {
  return prefix.slice(0, LONGEST_NAME - 5) + nameSuffix(random);
}

/**
 * `base-suffix`, or `base` alone, if that is short enough. Otherwise the base is truncated and a hash of the whole is
 * added: the same long name always has the same short name, and different names differ.
 *
 *     truncatedName("llama", "svc");                  // "llama-svc"
 *     truncatedName("a-name-of-80-letters…", "svc");  // "a-name-of-…-7d4f9c8b6-svc", 63 characters
 */
export function truncatedName(base: string, suffix = "", limit = LONGEST_NAME): string {
  const whole = suffix === "" ? base : `${base}-${suffix}`;
  if (whole.length <= limit) return whole;
  const hash = safeEncode(String(fnv1a32(whole)));
  const tail = suffix === "" ? hash : `${hash}-${suffix}`;
  const room = limit - tail.length - 1;
  // A suffix that leaves no room is cut like everything else.
  if (room < 1) return suffix === "" ? hash.slice(0, limit) : truncatedName(whole, "", limit);
  return `${base.slice(0, room).replace(/[^A-Za-z0-9]+$/, "")}-${tail}`.replace(/^-+/, "");
}

/**
 * The hash of a template for the name of its revision, in the alphabet of generated names. It does not depend on the
 * order of keys; a collision count changes it.
 */
export function templateHash(template: unknown, collisionCount?: number): string {
  const count = collisionCount === undefined ? "" : `\n${collisionCount}`;
  return safeEncode(String(fnv1a32(toGoJson(template) + count)));
}

/** Text in letters that spell no words: how Kubernetes writes the hashes in names and labels. */
export function safeEncode(text: string): string {
  return Array.from(text, (character) => NAME_LETTERS[character.codePointAt(0)! % NAME_LETTERS.length]).join("");
}

const encoder = new TextEncoder();

/** FNV-1a over the UTF-8 bytes of a text: small and fast, for names and spreading, not for secrets. */
export function fnv1a32(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of encoder.encode(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}
