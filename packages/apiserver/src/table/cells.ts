import { ageSince, type KubeObject } from "@konverge/core";

/** What a cell may hold. */
export type Cell = string | number | boolean | null;

/** The cells of one object, in the order of its kind's columns; `now` is for ages. */
export type CellsOf<T extends KubeObject = KubeObject> = (object: T, now: number) => Cell[];

export const NONE = "<none>";
export const UNSET = "<unset>";

export function ageOf(object: KubeObject, now: number): string {
  return ageSince(object.metadata.creationTimestamp, now);
}

/** Names and images of containers, each joined by commas. */
export function containerCells(
  containers: readonly { name: string; image?: string }[] = [],
): [names: string, images: string] {
  return [containers.map(({ name }) => name).join(","), containers.map(({ image }) => image ?? "").join(",")];
}

/** `a=1,b=2`, sorted by key. */
export function labelsText(labels: Readonly<Record<string, string>> | undefined): string {
  const pairs = Object.entries(labels ?? {}).map(([key, value]) => `${key}=${value}`);
  return pairs.length === 0 ? NONE : pairs.sort().join(",");
}

/** The first few of a list, and how many there are besides. */
export function firstOf(items: readonly string[], most: number, count = items.length, empty = NONE): string {
  if (items.length === 0) return empty;
  const shown = items.slice(0, most).join(",");
  return count > most ? `${shown} + ${count - most} more...` : shown;
}

/** Conditions by type. */
export function hasCondition(
  conditions: readonly { type: string; status: string }[] | undefined,
  type: string,
): boolean {
  return conditions?.some((condition) => condition.type === type && condition.status === "True") ?? false;
}

/** Addresses of a load balancer, sorted; each once. */
export function loadBalancerText(ingress: readonly { ip?: string; hostname?: string }[] | undefined): string {
  const addresses = (ingress ?? []).map(({ ip, hostname }) => ip || hostname || "").filter((address) => address !== "");
  return [...new Set(addresses)].sort().join(",");
}
