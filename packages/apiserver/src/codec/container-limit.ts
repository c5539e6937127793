import { WholeFloat } from "@konverge/core";
import { tooLarge } from "../http/bodies.ts";

/**
 * The most objects and lists that a body may have. What is done with an object takes time for each of its parts, all of it on
 * the thread that serves all requests: a million empty ports, which fit into a body, would take many seconds. No object that can
 * be stored comes near it. kube-apiserver has no such limit; it answers such a request with a timeout.
 */
export const MOST_CONTAINERS = 250_000;

/** Throws 413 for a body of too many parts. */
export function checkContainers(count: number): void {
  if (count > MOST_CONTAINERS) throw tooLarge(`limit is ${MOST_CONTAINERS} objects and lists`);
}

/** How many objects and lists a value has. */
export function countContainers(value: unknown): number {
  if (typeof value !== "object" || value === null || value instanceof WholeFloat) return 0;
  let count = 1;
  if (Array.isArray(value)) for (const item of value) count += countContainers(item);
  else for (const key in value) count += countContainers((value as Record<string, unknown>)[key]);
  return count;
}
