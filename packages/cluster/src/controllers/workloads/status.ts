import { deepEqual, type KindRef, type KubeObject } from "@konverge/core";
import type { ReconcileContext } from "@konverge/runtime";

/**
 * Replaces the status of an object, if it differs from the one given. Fails with a conflict if the object was
 * written since it was read: what is reported must be about the current object.
 */
export async function writeStatus<T extends KubeObject & { status?: object }>(
  { client }: Pick<ReconcileContext, "client">,
  kind: KindRef<T>,
  object: T,
  status: NonNullable<T["status"]>,
): Promise<T> {
  if (sameStored(object.status ?? {}, status)) return object;
  // Direct write: the status must be stored in the middle of a sync, before what it announces is done.
  return client.updateStatus(kind, { ...object, status });
}

/** A status as a result has it: left out if a server stores the same already. */
export function changedStatus<S extends object>(
  { status: before = {} }: { status?: S | object | undefined },
  status: S,
): { wholeStatus?: S } {
  return sameStored(before, status) ? {} : { wholeStatus: status };
}

/** Whether a server stores the same for both: it omits zeros and what is empty. */
export function sameStored(a: unknown, b: unknown): boolean {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) {
    return deepEqual(a, b) || (isOmitted(a) && isOmitted(b));
  }
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b)) return isOmitted(a) && isOmitted(b);
    return a.length === b.length && a.every((item, i) => sameStored(item, b[i]));
  }
  const [one, other] = [a as Record<string, unknown>, b as Record<string, unknown>];
  for (const key in one) if (!sameStored(one[key], other[key])) return false;
  for (const key in other) if (!Object.hasOwn(one, key) && !isOmitted(other[key])) return false;
  return true;
}

function isOmitted(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return !value;
  if (Array.isArray(value)) return value.length === 0;
  for (const key in value) if (!isOmitted((value as Record<string, unknown>)[key])) return false;
  return true;
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
