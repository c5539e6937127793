import { type AccessOptions, declaredAccess } from "../controller/declared-access.ts";
import { type Access, covers } from "../rbac/access.ts";
import { webhookAccess } from "../webhooks/serve-webhooks.ts";
import { Webhooks } from "../webhooks/webhooks.ts";
import type { Operator, OperatorParts } from "./operator.ts";

/** Where an operator is at home, and how far it reaches. */
export interface OperatorPlace extends AccessOptions {
  /** The namespace of its service account and of its webhooks' certificates. */
  readonly home: string;
}

/**
 * All that an operator must be allowed: what its controllers declare, and what its webhooks need. What another of them
 * allows already is left out.
 */
export function operatorAccess(operator: Pick<Operator, "name">, parts: OperatorParts, place: OperatorPlace): Access[] {
  const { home, ...options } = place;
  const declared = declaredAccess(parts.controllers, options);
  return [...declared, ...webhooksAccess(operator, parts, home)].filter(
    (access, i, all) => !all.some((other, j) => covers(other, access) && (i > j || !covers(access, other))),
  );
}

/** What an operator's webhooks alone need. */
export function webhooksAccess({ name }: Pick<Operator, "name">, parts: OperatorParts, home: string): Access[] {
  if (!hasWebhooks(parts)) return [];
  const { admissions = [], conversions = [] } = parts;
  return webhookAccess(new Webhooks({ admissions, conversions }), { name, namespace: home });
}

/** Whether the API server asks this operator something. */
export function hasWebhooks({ admissions = [], conversions = [] }: OperatorParts): boolean {
  return admissions.length + conversions.length > 0;
}
