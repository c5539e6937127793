import type { CellsOf } from "./cells.ts";
import * as core from "./core-cells.ts";
import * as network from "./network-cells.ts";
import * as other from "./other-cells.ts";
import { podCells } from "./pod-cells.ts";
import * as workload from "./workload-cells.ts";

/** What the columns of each built-in kind show, by group and kind. Kinds that are missing show name and creation. */
const builtin: Record<string, CellsOf<never>> = {
  "/ConfigMap": core.configMapCells,
  "/Endpoints": network.endpointsCells,
  "/Event": core.eventCells,
  "/Namespace": core.namespaceCells,
  "/Node": core.nodeCells,
  "/PersistentVolume": core.persistentVolumeCells,
  "/PersistentVolumeClaim": core.persistentVolumeClaimCells,
  "/Pod": podCells,
  "/PodTemplate": workload.podTemplateCells,
  "/ReplicationController": workload.replicationControllerCells,
  "/ResourceQuota": core.resourceQuotaCells,
  "/Secret": core.secretCells,
  "/Service": network.serviceCells,
  "/ServiceAccount": other.nameAndAge,
  "admissionregistration.k8s.io/MutatingAdmissionPolicy": other.mutatingPolicyCells,
  "admissionregistration.k8s.io/MutatingAdmissionPolicyBinding": other.policyBindingCells,
  "admissionregistration.k8s.io/MutatingWebhookConfiguration": other.webhooksCells,
  "admissionregistration.k8s.io/ValidatingAdmissionPolicy": other.validatingPolicyCells,
  "admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding": other.policyBindingCells,
  "admissionregistration.k8s.io/ValidatingWebhookConfiguration": other.webhooksCells,
  "apiregistration.k8s.io/APIService": other.apiServiceCells,
  "apps/ControllerRevision": workload.controllerRevisionCells,
  "apps/DaemonSet": workload.daemonSetCells,
  "apps/Deployment": workload.deploymentCells,
  "apps/ReplicaSet": workload.replicaSetCells,
  "apps/StatefulSet": workload.statefulSetCells,
  "autoscaling/HorizontalPodAutoscaler": workload.horizontalPodAutoscalerCells,
  "autoscaling/Scale": workload.scaleCells,
  "batch/CronJob": workload.cronJobCells,
  "batch/Job": workload.jobCells,
  "certificates.k8s.io/CertificateSigningRequest": other.certificateSigningRequestCells,
  "coordination.k8s.io/Lease": other.leaseCells,
  "discovery.k8s.io/EndpointSlice": network.endpointSliceCells,
  "events.k8s.io/Event": core.eventCells,
  "flowcontrol.apiserver.k8s.io/FlowSchema": other.flowSchemaCells,
  "flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration": other.priorityLevelCells,
  "networking.k8s.io/Ingress": network.ingressCells,
  "networking.k8s.io/IngressClass": network.ingressClassCells,
  "networking.k8s.io/IPAddress": network.ipAddressCells,
  "networking.k8s.io/NetworkPolicy": network.networkPolicyCells,
  "networking.k8s.io/ServiceCIDR": network.serviceCidrCells,
  "node.k8s.io/RuntimeClass": other.runtimeClassCells,
  "policy/PodDisruptionBudget": workload.podDisruptionBudgetCells,
  "rbac.authorization.k8s.io/ClusterRoleBinding": other.bindingCells,
  "rbac.authorization.k8s.io/RoleBinding": other.bindingCells,
  "resource.k8s.io/DeviceClass": other.nameAndAge,
  "resource.k8s.io/ResourceClaim": other.resourceClaimCells,
  "resource.k8s.io/ResourceClaimTemplate": other.nameAndAge,
  "resource.k8s.io/ResourceSlice": other.resourceSliceCells,
  "scheduling.k8s.io/PriorityClass": other.priorityClassCells,
  "storage.k8s.io/CSIDriver": other.csiDriverCells,
  "storage.k8s.io/CSINode": other.csiNodeCells,
  "storage.k8s.io/StorageClass": other.storageClassCells,
  "storage.k8s.io/VolumeAttachment": other.volumeAttachmentCells,
  "storage.k8s.io/VolumeAttributesClass": other.volumeAttributesClassCells,
};

export function builtinCells(group: string, kind: string): CellsOf {
  return (builtin[`${group}/${kind}`] as CellsOf | undefined) ?? other.nameAndCreation;
}
