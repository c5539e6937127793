import type { Authorizer } from "../auth/rbac/authorizer.ts";
import type { Admission } from "../verbs/call.ts";
import type { CallWebhook } from "../webhook-call.ts";
import type { AdmissionPlugin } from "./attributes.ts";
import { admissionChain } from "./chain.ts";
import { defaultTolerationSeconds } from "./default-toleration-seconds.ts";
import { limitRanger } from "./limit-ranger.ts";
import { mutatingPolicies } from "./mutating-policies.ts";
import { namespaceLifecycle } from "./namespace-lifecycle.ts";
import { taintNodesByCondition } from "./nodes.ts";
import { podSecurity } from "./pod-security.ts";
import { priority } from "./priority.ts";
import { rbacEscalation } from "./rbac-escalation.ts";
import { resourceQuota } from "./resource-quota.ts";
import { serviceAccount } from "./service-account.ts";
import { defaultStorageClass, persistentVolumeClaimResize, storageObjectInUseProtection } from "./storage.ts";
import { validatingPolicies } from "./validating-policies.ts";
import { mutatingWebhooks, validatingWebhooks } from "./webhooks.ts";

/** Which plugins take part beyond those that do by default, and which of those do not. */
export interface AdmissionOptions {
  readonly enable?: readonly string[];
  readonly disable?: readonly string[];
}

/** All plugins, in the order in which they are asked. */
function allPlugins(callWebhook: CallWebhook, authorizer: Authorizer): AdmissionPlugin[] {
  return [
    namespaceLifecycle,
    limitRanger,
    serviceAccount,
    taintNodesByCondition,
    podSecurity,
    priority,
    defaultTolerationSeconds,
    defaultStorageClass,
    storageObjectInUseProtection,
    persistentVolumeClaimResize,
    mutatingPolicies,
    mutatingWebhooks(callWebhook),
    rbacEscalation(authorizer),
    validatingPolicies,
    validatingWebhooks(callWebhook),
    resourceQuota,
  ];
}

/**
 * Not asked unless wanted: ServiceAccount needs a controller that makes every namespace's default account, the other one
 * is off in a real server as well.
 */
const OFF = new Set(["ServiceAccount", "OwnerReferencesPermissionEnforcement"]);

/** What stands between a write and the store. */
export function admissionOf(
  callWebhook: CallWebhook,
  authorizer: Authorizer,
  { enable = [], disable = [] }: AdmissionOptions = {},
): Admission {
  const on = ({ name }: AdmissionPlugin) => enable.includes(name) || (!OFF.has(name) && !disable.includes(name));
  return admissionChain(allPlugins(callWebhook, authorizer).filter(on));
}
