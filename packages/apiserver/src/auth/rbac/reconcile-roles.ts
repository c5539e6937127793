import { deepEqual, parseJson, stringifyJson } from "@konverge/core";
import type { Entry } from "../../storage/entry.ts";
import type { BindingObject, RoleObject, Subject } from "./role-objects.ts";
import { rulesBeyond } from "./rules.ts";

/** Keeps a default role or binding as its users made it, when "false". */
export const AUTO_UPDATE = "rbac.authorization.kubernetes.io/autoupdate";

type DefaultObject = RoleObject | BindingObject;

/**
 * What a server makes of a default role or binding when it starts: what it lacks is added, what users added stays. Undefined
 * when nothing is to be changed; `replaced` when it grants another role than it should, which no update can change.
 */
export function reconciled(
  entry: Entry,
  expected: DefaultObject,
): { object: DefaultObject; replaced: boolean } | undefined {
  if (isUnchanged(entry, expected)) return undefined;
  const existing = parseJson(entry.text) as DefaultObject;
  const { metadata } = existing;
  if (metadata.annotations?.[AUTO_UPDATE] === "false") return undefined;
  if ("roleRef" in expected && !deepEqual(existing["roleRef"], expected.roleRef)) {
    return { object: expected, replaced: true };
  }
  const object = {
    ...existing,
    metadata: {
      ...metadata,
      labels: { ...expected.metadata.labels, ...metadata.labels },
      annotations: { ...expected.metadata.annotations, ...metadata.annotations },
    },
    ...("roleRef" in expected
      ? { subjects: withMissing(existing["subjects"], expected["subjects"] as Subject[] | undefined) }
      : completedRole(existing as RoleObject, expected as RoleObject)),
  } as DefaultObject;
  return deepEqual(object, existing) ? undefined : { object, replaced: false };
}

/** Most are as they were made, which their text shows without being read. */
function isUnchanged({ text }: Entry, { metadata, ...expected }: DefaultObject): boolean {
  const parts = [metadata.labels, metadata.annotations, expected["rules"], expected["subjects"], expected["roleRef"]];
  return parts.every((part) => part === undefined || part === null || text.includes(stringifyJson(part)));
}

function completedRole(existing: RoleObject, expected: RoleObject): Partial<RoleObject> {
  // The rules of an aggregated role are its controller's business.
  if (expected.aggregationRule) {
    const selectors = withMissing(
      existing.aggregationRule?.clusterRoleSelectors,
      expected.aggregationRule.clusterRoleSelectors,
    );
    return { aggregationRule: { clusterRoleSelectors: selectors } };
  }
  const missing = rulesBeyond(existing.rules ?? [], expected.rules ?? []);
  return missing.length > 0 ? { rules: [...(existing.rules ?? []), ...missing] } : {};
}

function withMissing<T>(existing: unknown, expected: readonly T[] | null | undefined): T[] {
  const list = (existing ?? []) as T[];
  return [...list, ...(expected ?? []).filter((one) => !list.some((other) => deepEqual(other, one)))];
}
