import {
  hasWebhooks,
  type OperatorParts,
  operatorPermissions,
  operatorWebhookPermissions,
  type Permission,
} from "@konverge/runtime";

export { hasWebhooks };

/** Where an operator is at home, and how far it reaches. */
export interface OperatorPlace {
  /** The namespace of its service account, its lease and the certificates of its webhooks. */
  readonly operatorNamespace: string;
  /** The namespaces it looks after. Default: all. */
  readonly namespaces?: readonly string[];
  /** One of several replicas acts at a time. */
  readonly leader?: boolean;
}

/** All that an operator must be allowed: what its controllers declare, what its webhooks need, its lease. */
export function accessOf(
  name: string,
  parts: OperatorParts,
  { operatorNamespace, namespaces, leader }: OperatorPlace,
): Permission[] {
  return operatorPermissions({ name }, parts, {
    operatorNamespace,
    ...(namespaces && { namespaces }),
    ...(leader && { leaderElection: { name, namespace: operatorNamespace } }),
  });
}

/** The part of it that serving webhooks takes. */
export function webhookAccessOf(name: string, parts: OperatorParts, home: string): Permission[] {
  return operatorWebhookPermissions({ name }, parts, home);
}
