import { controllerPermissions, type PermissionOptions } from "../controller/declared-access.ts";
import { covers, type Permission } from "../rbac/access.ts";
import { type WebhookRegistrationMode, webhookPermissions } from "../webhooks/serve-webhooks.ts";
import { Webhooks } from "../webhooks/webhooks.ts";
import type { Operator, OperatorParts } from "./operator.ts";

/** The namespaces of an operator. */
export interface OperatorPermissionOptions extends PermissionOptions {
  /** The namespace of its service account and of its webhooks' certificates. */
  readonly operatorNamespace: string;
  /** How its webhooks are registered. Default: `update`. */
  readonly webhookRegistration?: WebhookRegistrationMode;
}

/**
 * The permissions that an operator needs: those that its controllers declare and those of its webhooks, without duplicates.
 */
export function operatorPermissions(
  operator: Pick<Operator, "name">,
  parts: OperatorParts,
  place: OperatorPermissionOptions,
): Permission[] {
  const { operatorNamespace, webhookRegistration, ...options } = place;
  const declared = controllerPermissions(parts.controllers, options);
  return [...declared, ...operatorWebhookPermissions(operator, parts, operatorNamespace, webhookRegistration)].filter(
    (access, i, all) => !all.some((other, j) => covers(other, access) && (i > j || !covers(access, other))),
  );
}

/** What an operator's webhooks alone need. */
export function operatorWebhookPermissions(
  { name }: Pick<Operator, "name">,
  parts: OperatorParts,
  home: string,
  registration: WebhookRegistrationMode = "update",
): Permission[] {
  if (!hasWebhooks(parts)) return [];
  const { admissions = [], conversions } = parts;
  return webhookPermissions(new Webhooks({ admissions, conversions }), { name, namespace: home, registration });
}

/** Whether the operator has webhooks. */
export function hasWebhooks({ admissions = [], conversions }: OperatorParts): boolean {
  return admissions.length + conversions.length > 0;
}
