import { type JsonSurvey, MAX_JSON_DEPTH, WholeFloat } from "@konverge/core";
import { tooLarge } from "../http/bodies.ts";

/**
 * The most parts that an object or a patch may have. Each costs some microseconds, several times over: to parse, default,
 * validate and compare it, and to record who owns it, all on the thread that serves every request. A custom resource definition
 * of 1.5 MiB, the most that can be stored, has fewer. kube-apiserver has no such limit: it answers what takes too long with a
 * timeout.
 */
export const MOST_PARTS = 50_000;

/**
 * The most keys that all large maps of an object may have, without its managed fields. A key of a map of more keys than
 * {@link LARGE} costs several times as much as others.
 */
export const MOST_KEYS = 12_000;
const LARGE = 1000;

/** YAML takes longer to read, and what is read is limited only afterwards. */
export const MOST_YAML_NODES = 60_000;

/** Keys, objects and lists count one. Texts in lists may be the items of a set, which are found by comparing. */
const TEXT = 2;
const SCALAR = 0.5;

/** Throws 413 for a JSON text of too many parts, before it is parsed. It counts no more than {@link checkValue} will. */
export function checkSurvey({ keys, containers, commas, depth }: JsonSurvey): void {
  // There is one more key or item than commas in each object and list that is not empty.
  const items = Math.max(0, commas - keys);
  // Nesting has another limit, and another error: there is a container and at most one key for each level.
  const nested = depth > MAX_JSON_DEPTH ? 2 * depth : 0;
  // What an object is sent back with, its managed fields, may have as many parts.
  checkParts(keys + containers + items * SCALAR - nested, "", 2 * MOST_PARTS);
}

/** Throws 413 for a value of too many parts. */
export function checkValue(value: unknown): void {
  const all = countParts(value);
  if (all.parts <= MOST_PARTS && all.keysOfLargeMaps <= MOST_KEYS) return;
  const { metadata } = value as { metadata?: { managedFields?: unknown } | null };
  const managed = countParts(metadata?.managedFields);
  checkParts(managed.parts, "managed fields of ", MOST_PARTS);
  checkParts(all.parts - managed.parts, "", MOST_PARTS);
  const keys = all.keysOfLargeMaps - managed.keysOfLargeMaps;
  if (keys > MOST_KEYS) throw tooManyParts(`maps of ${keys} keys, limit is ${MOST_KEYS}`);
}

/** 413 for an object of which each part may be right. */
export function tooManyParts(why: string) {
  return tooLarge(`${why}: divide the object`);
}

function checkParts(parts: number, of: string, limit: number): void {
  if (parts > limit) throw tooManyParts(`${of}${Math.floor(parts)} keys, objects and lists, limit is ${limit}`);
}

interface Parts {
  parts: number;
  keysOfLargeMaps: number;
}

function countParts(value: unknown): Parts {
  const found: Parts = { parts: 0, keysOfLargeMaps: 0 };
  addParts(value, found);
  return found;
}

function addParts(value: unknown, found: Parts): void {
  if (typeof value !== "object" || value === null || value instanceof WholeFloat) return;
  found.parts++;
  if (Array.isArray(value)) {
    for (const item of value) {
      if (typeof item === "object") addParts(item, found);
      else found.parts += typeof item === "string" ? TEXT : SCALAR;
    }
    return;
  }
  let keys = 0;
  for (const key in value) {
    keys++;
    addParts((value as Record<string, unknown>)[key], found);
  }
  found.parts += keys;
  if (keys > LARGE) found.keysOfLargeMaps += keys;
}
