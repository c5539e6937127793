import { type Access, declaredAccess, type OperatorParts, Webhooks, webhookAccess } from "@konverge/runtime";

/** Where an operator is at home, and how far it reaches. */
export interface OperatorPlace {
  /** The namespace of its service account, its lease and the certificates of its webhooks. */
  readonly home: string;
  /** The namespaces it looks after. Default: all. */
  readonly namespaces?: readonly string[];
  /** One of several replicas acts at a time. */
  readonly leader?: boolean;
}

/** The API server asks this operator something. */
export function hasWebhooks({ admissions = [], conversions = [] }: OperatorParts): boolean {
  return admissions.length + conversions.length > 0;
}

/** All that an operator must be allowed: what its controllers declare, what its webhooks need, its lease. */
export function accessOf(name: string, parts: OperatorParts, place: OperatorPlace): Access[] {
  const { home, namespaces, leader } = place;
  const accesses = declaredAccess(parts.controllers, {
    ...(namespaces && { namespaces }),
    ...(leader && { leader: { name, namespace: home } }),
  });
  return [...accesses, ...webhookAccessOf(name, parts, home)];
}

/** The part of it that serving webhooks takes. */
export function webhookAccessOf(name: string, parts: OperatorParts, home: string): Access[] {
  if (!hasWebhooks(parts)) return [];
  const { admissions = [], conversions = [] } = parts;
  return webhookAccess(new Webhooks({ admissions, conversions }), { name, namespace: home });
}
