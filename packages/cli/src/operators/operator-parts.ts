import { type Access, hasWebhooks, type OperatorParts, operatorAccess, webhooksAccess } from "@konverge/runtime";

export { hasWebhooks };

/** Where an operator is at home, and how far it reaches. */
export interface OperatorPlace {
  /** The namespace of its service account, its lease and the certificates of its webhooks. */
  readonly home: string;
  /** The namespaces it looks after. Default: all. */
  readonly namespaces?: readonly string[];
  /** One of several replicas acts at a time. */
  readonly leader?: boolean;
}

/** All that an operator must be allowed: what its controllers declare, what its webhooks need, its lease. */
export function accessOf(name: string, parts: OperatorParts, { home, namespaces, leader }: OperatorPlace): Access[] {
  return operatorAccess({ name }, parts, {
    home,
    ...(namespaces && { namespaces }),
    ...(leader && { leader: { name, namespace: home } }),
  });
}

/** The part of it that serving webhooks takes. */
export function webhookAccessOf(name: string, parts: OperatorParts, home: string): Access[] {
  return webhooksAccess({ name }, parts, home);
}
