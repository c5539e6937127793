import { deepEqual, type KindRef, type KubeObject } from "@konverge/core";
import type { Context } from "@konverge/runtime";

/**
 * Replaces the status of an object, if it differs from the one given. Fails with a conflict if anybody has written the
 * object since it was read: what is reported must be about the object as it is.
 */
export async function writeStatus<T extends KubeObject & { status?: object }>(
  { client }: Pick<Context, "client">,
  kind: KindRef<T>,
  object: T,
  status: NonNullable<T["status"]>,
): Promise<T> {
  if (sameStored(object.status ?? {}, status)) return object;
  return client.updateStatus(kind, { ...object, status });
}

/** Whether a server stores the same for both: it omits zeros and what is empty. */
export function sameStored(a: unknown, b: unknown): boolean {
  return deepEqual(stored(a), stored(b));
}

function stored(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map((item) => stored(item) ?? {});
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).map(([key, one]) => [key, stored(one)] as const);
    const kept = entries.filter(([, one]) => one !== undefined);
    return kept.length === 0 ? undefined : Object.fromEntries(kept);
  }
  return value === 0 || value === "" || value === false || value === null ? undefined : value;
}

/** A condition as workloads have them: `lastTransitionTime` moves only with the status. */
export interface PlainCondition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
}

/** The conditions with one set, at the given time if it changes the status. */
export function withCondition<C extends PlainCondition>(
  conditions: readonly C[] | undefined,
  next: C,
  now: string,
): C[] {
  const before = conditions?.find(({ type }) => type === next.type);
  const others = (conditions ?? []).filter(({ type }) => type !== next.type);
  if (before && before.status === next.status && before.reason === next.reason && before.message === next.message) {
    return [...conditions!];
  }
  const lastTransitionTime = before?.status === next.status ? before.lastTransitionTime : now;
  return [...others, { ...next, ...(lastTransitionTime && { lastTransitionTime }) }];
}

/** The conditions without one. */
export function withoutCondition<C extends PlainCondition>(conditions: readonly C[] | undefined, type: string): C[] {
  return (conditions ?? []).filter((condition) => condition.type !== type);
}
