import type { Strategy } from "./definition.ts";

/** What the generic verbs must know of a kind and no schema contains: plain facts, for all kinds in one table. */
export type Traits = Pick<
  Strategy,
  | "hasGeneration"
  | "allowUnconditionalUpdate"
  | "allowCreateOnUpdate"
  | "dependents"
  | "returnsDeleted"
  | "metadataChecks"
>;

const list = (text: string) => new Set(text.trim().split(/\s+/));

/** metadata.generation counts changes of what is desired. */
const WITH_GENERATION = list(`
  Pod PodTemplate ReplicationController
  apps/DaemonSet apps/Deployment apps/ReplicaSet apps/StatefulSet batch/CronJob batch/Job
  admissionregistration.k8s.io/MutatingAdmissionPolicy admissionregistration.k8s.io/MutatingAdmissionPolicyBinding
  admissionregistration.k8s.io/MutatingWebhookConfiguration
  admissionregistration.k8s.io/ValidatingAdmissionPolicy admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding
  admissionregistration.k8s.io/ValidatingWebhookConfiguration
  apiextensions.k8s.io/CustomResourceDefinition
  discovery.k8s.io/EndpointSlice
  flowcontrol.apiserver.k8s.io/FlowSchema flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration
  networking.k8s.io/Ingress networking.k8s.io/IngressClass networking.k8s.io/NetworkPolicy
  policy/PodDisruptionBudget resource.k8s.io/DeviceClass resource.k8s.io/ResourceSlice scheduling.k8s.io/PriorityClass
`);

/** An update must say which version it is based on. */
const CONDITIONAL = list(`
  admissionregistration.k8s.io/MutatingAdmissionPolicy admissionregistration.k8s.io/MutatingAdmissionPolicyBinding
  admissionregistration.k8s.io/MutatingWebhookConfiguration
  admissionregistration.k8s.io/ValidatingAdmissionPolicy admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding
  admissionregistration.k8s.io/ValidatingWebhookConfiguration
  apiextensions.k8s.io/CustomResourceDefinition apiregistration.k8s.io/APIService
  coordination.k8s.io/Lease node.k8s.io/RuntimeClass policy/PodDisruptionBudget
  storage.k8s.io/CSIDriver storage.k8s.io/CSINode storage.k8s.io/CSIStorageCapacity storage.k8s.io/VolumeAttachment
`);

/** An update of what is not there creates it. */
const CREATED_BY_UPDATE = list(`
  Endpoints Event events.k8s.io/Event LimitRange Service coordination.k8s.io/Lease node.k8s.io/RuntimeClass
  rbac.authorization.k8s.io/ClusterRole rbac.authorization.k8s.io/ClusterRoleBinding
  rbac.authorization.k8s.io/Role rbac.authorization.k8s.io/RoleBinding
`);

/** Dependents are orphaned when a deletion does not say. */
const ORPHANING = list("ReplicationController batch/Job");
const WITHOUT_DEPENDENTS = list("Event events.k8s.io/Event");

/** The answer to a delete is the object. */
const RETURNED = list(`
  Namespace PersistentVolume PersistentVolumeClaim Pod PodTemplate ResourceQuota Service ServiceAccount
  resource.k8s.io/DeviceClass resource.k8s.io/ResourceClaim resource.k8s.io/ResourceClaimTemplate
  resource.k8s.io/ResourceSlice
  storage.k8s.io/CSIDriver storage.k8s.io/CSINode storage.k8s.io/StorageClass storage.k8s.io/VolumeAttachment
  storage.k8s.io/VolumeAttributesClass
`);

/** Updates validate metadata again, as creates do: the causes of an error show it. */
const JUDGED_AGAIN = list(`
  ConfigMap Endpoints Namespace Node PersistentVolume PersistentVolumeClaim Pod Secret ServiceAccount
  apiregistration.k8s.io/APIService apps/ControllerRevision batch/Job certificates.k8s.io/CertificateSigningRequest
  networking.k8s.io/Ingress networking.k8s.io/IngressClass node.k8s.io/RuntimeClass
  rbac.authorization.k8s.io/ClusterRole rbac.authorization.k8s.io/ClusterRoleBinding
  rbac.authorization.k8s.io/Role rbac.authorization.k8s.io/RoleBinding
  resource.k8s.io/DeviceClass resource.k8s.io/ResourceClaim resource.k8s.io/ResourceClaimTemplate
  storage.k8s.io/CSIStorageCapacity storage.k8s.io/StorageClass storage.k8s.io/VolumeAttributesClass
`);
/** … or not at all. */
const JUDGED_ONCE = list("Event policy/PodDisruptionBudget");
const JUDGED_AS_NEW = list(`
  LimitRange discovery.k8s.io/EndpointSlice flowcontrol.apiserver.k8s.io/FlowSchema
  storage.k8s.io/CSINode storage.k8s.io/VolumeAttachment
  admissionregistration.k8s.io/MutatingAdmissionPolicy admissionregistration.k8s.io/MutatingAdmissionPolicyBinding
  admissionregistration.k8s.io/MutatingWebhookConfiguration
  admissionregistration.k8s.io/ValidatingAdmissionPolicy admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding
  admissionregistration.k8s.io/ValidatingWebhookConfiguration
`);

/** The traits of a built-in kind. */
export function traitsOf(group: string, kind: string): Traits {
  const name = group === "" ? kind : `${group}/${kind}`;
  return {
    hasGeneration: WITH_GENERATION.has(name),
    allowUnconditionalUpdate: !CONDITIONAL.has(name),
    allowCreateOnUpdate: CREATED_BY_UPDATE.has(name),
    dependents: ORPHANING.has(name) ? "orphan" : WITHOUT_DEPENDENTS.has(name) ? "unsupported" : "delete",
    returnsDeleted: RETURNED.has(name),
    metadataChecks: metadataChecks(name),
  };
}

function metadataChecks(name: string): Traits["metadataChecks"] {
  if (JUDGED_ONCE.has(name)) return [];
  if (JUDGED_AS_NEW.has(name)) return ["new"];
  return JUDGED_AGAIN.has(name) ? ["changes", "new"] : ["changes"];
}
