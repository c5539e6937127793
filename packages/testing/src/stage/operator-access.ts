import {
  type Access,
  declaredAccess,
  type Operator,
  type OperatorParts,
  Webhooks,
  webhookAccess,
} from "@konverge/runtime";

/** Where an operator is at home, and how far it reaches. */
export interface OperatorPlace {
  /** The namespace of its service account and of its webhooks' certificates. */
  readonly home: string;
  /** The namespaces it looks after. Default: all. */
  readonly namespaces?: readonly string[];
}

/** All that an operator must be allowed: what its controllers declare, and what its webhooks need. */
export function operatorAccess(operator: Operator, parts: OperatorParts, place: OperatorPlace): Access[] {
  const { home, namespaces } = place;
  const accesses = declaredAccess(parts.controllers, namespaces ? { namespaces } : {});
  if (!hasWebhooks(parts)) return accesses;
  const { admissions = [], conversions = [] } = parts;
  const webhooks = new Webhooks({ admissions, conversions });
  return [...accesses, ...webhookAccess(webhooks, { name: operator.name, namespace: home })];
}

/** The API server asks this operator something. */
export function hasWebhooks({ admissions = [], conversions = [] }: OperatorParts): boolean {
  return admissions.length + conversions.length > 0;
}
