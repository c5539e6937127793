import type { Authorizer } from "../auth/rbac/authorizer.ts";
import type { Admission } from "../call/call.ts";
import type { CallWebhook } from "../webhook-call.ts";
import type { AdmissionPlugin } from "./attributes.ts";
import { certificateApproval, certificateSigning, certificateSubjectRestriction } from "./certificates.ts";
import { admissionChain } from "./chain.ts";
import { defaultTolerationSeconds } from "./default-toleration-seconds.ts";
import { extendedResourceToleration } from "./extended-resource-toleration.ts";
import { defaultIngressClass } from "./ingress-class.ts";
import { limitRanger } from "./limit-ranger.ts";
import { mutatingPolicies } from "./mutating-policies.ts";
import { namespaceLifecycle } from "./namespace-lifecycle.ts";
import { nodeRestriction } from "./node-restriction.ts";
import { taintNodesByCondition } from "./nodes.ts";
import { ownerReferencesPermissionEnforcement } from "./owner-references.ts";
import { podResizeValidator } from "./pod-resize.ts";
import { podSecurity } from "./pod-security/plugin.ts";
import { podTopologyLabels } from "./pod-topology-labels.ts";
import { priority } from "./priority.ts";
import { rbacEscalation } from "./rbac-escalation.ts";
import { resourceQuota } from "./resource-quota.ts";
import { runtimeClass } from "./runtime-class.ts";
import { serviceAccount } from "./service-account.ts";
import { defaultStorageClass, persistentVolumeClaimResize, storageObjectInUseProtection } from "./storage.ts";
import { validatingPolicies } from "./validating-policies.ts";
import { mutatingWebhooks, validatingWebhooks } from "./webhooks.ts";

/** Which plugins take part beyond those that do by default, and which of those do not. */
export interface AdmissionPluginOptions {
  readonly enable?: readonly string[];
  readonly disable?: readonly string[];
}

/** All plugins, in the order in which they are asked. */
function allPlugins(callWebhook: CallWebhook, authorizer: Authorizer): AdmissionPlugin[] {
  return [
    namespaceLifecycle,
    limitRanger,
    serviceAccount,
    nodeRestriction,
    taintNodesByCondition,
    podSecurity,
    priority,
    defaultTolerationSeconds,
    extendedResourceToleration,
    defaultStorageClass,
    storageObjectInUseProtection,
    ownerReferencesPermissionEnforcement,
    persistentVolumeClaimResize,
    runtimeClass,
    certificateApproval,
    certificateSigning,
    certificateSubjectRestriction,
    defaultIngressClass,
    podTopologyLabels,
    podResizeValidator,
    mutatingPolicies,
    mutatingWebhooks(callWebhook),
    rbacEscalation(authorizer),
    validatingPolicies,
    validatingWebhooks(callWebhook),
    resourceQuota,
  ];
}

/**
 * Not asked unless wanted: ServiceAccount needs a controller that makes every namespace's default account, the others are
 * off in a real server as well.
 */
const OFF = new Set(["ServiceAccount", "ExtendedResourceToleration", "OwnerReferencesPermissionEnforcement"]);

/** What stands between a write and the store. */
export function admissionOf(
  callWebhook: CallWebhook,
  authorizer: Authorizer,
  { enable = [], disable = [] }: AdmissionPluginOptions = {},
): Admission {
  const on = ({ name }: AdmissionPlugin) => enable.includes(name) || (!OFF.has(name) && !disable.includes(name));
  return admissionChain(allPlugins(callWebhook, authorizer).filter(on));
}
