import type { WorkingObject } from "../../codec/working-object.ts";
import type { ResourceDefinition, Strategy } from "../definition.ts";
import { traitsOf } from "../traits.ts";
import { bindingStrategy, roleStrategy, serviceAccount } from "./access.ts";
import {
  mutatingAdmissionPolicy,
  mutatingAdmissionPolicyBinding,
  validatingAdmissionPolicy,
  validatingAdmissionPolicyBinding,
} from "./admission-policies.ts";
import { apiService } from "./api-service.ts";
import { convertAutoscalers, horizontalPodAutoscaler } from "./autoscalers.ts";
import { certificateSigningRequest } from "./certificates.ts";
import { lease, podDisruptionBudget, priorityClass, runtimeClass } from "./cluster-objects.ts";
import { configMap, secret } from "./config.ts";
import { controllerRevision } from "./controller-revision.ts";
import { csiDriver, csiNode, csiStorageCapacity, volumeAttachment, volumeAttributesClass } from "./csi.ts";
import { deviceClass, resourceClaim, resourceClaimTemplate, resourceSlice } from "./devices.ts";
import { endpointSlice } from "./endpoint-slices.ts";
import { endpoints } from "./endpoints.ts";
import { convertEvents, event, eventOfOwnGroup } from "./events.ts";
import { flowSchema, priorityLevelConfiguration } from "./flow-control.ts";
import { ingress, ingressClass } from "./ingresses.ts";
import { ipAddress } from "./ip-address.ts";
import { job } from "./job.ts";
import { namespace } from "./namespace.ts";
import { networkPolicy } from "./network-policies.ts";
import { node } from "./node.ts";
import { pod } from "./pod.ts";
import { limitRange, resourceQuota } from "./quotas.ts";
import { replicationController } from "./replication-controller.ts";
import { service } from "./service/service.ts";
import { serviceCidr } from "./service-cidr.ts";
import { persistentVolume, persistentVolumeClaim, storageClass } from "./volumes-and-claims.ts";
import { webhookConfiguration } from "./webhook-configurations.ts";
import { cronJob, daemonSet, deployment, podTemplate, replicaSet, statefulSet } from "./workloads.ts";

/** What is special about built-in kinds beyond their traits, by group and kind. */
const strategies: Record<string, Strategy> = {
  "/ConfigMap": configMap,
  "/Endpoints": endpoints,
  "/Event": event,
  "/LimitRange": limitRange,
  "/Namespace": namespace,
  "discovery.k8s.io/EndpointSlice": endpointSlice,
  "resource.k8s.io/DeviceClass": deviceClass,
  "resource.k8s.io/ResourceClaim": resourceClaim,
  "resource.k8s.io/ResourceClaimTemplate": resourceClaimTemplate,
  "resource.k8s.io/ResourceSlice": resourceSlice,
  "/Node": node,
  "/PersistentVolume": persistentVolume,
  "/PersistentVolumeClaim": persistentVolumeClaim,
  "/Pod": pod,
  "/PodTemplate": podTemplate,
  "/ReplicationController": replicationController,
  "/ResourceQuota": resourceQuota,
  "/Secret": secret,
  "/Service": service,
  "/ServiceAccount": serviceAccount,
  "apiregistration.k8s.io/APIService": apiService,
  "admissionregistration.k8s.io/MutatingAdmissionPolicy": mutatingAdmissionPolicy,
  "admissionregistration.k8s.io/MutatingAdmissionPolicyBinding": mutatingAdmissionPolicyBinding,
  "admissionregistration.k8s.io/MutatingWebhookConfiguration": webhookConfiguration,
  "admissionregistration.k8s.io/ValidatingAdmissionPolicy": validatingAdmissionPolicy,
  "admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding": validatingAdmissionPolicyBinding,
  "admissionregistration.k8s.io/ValidatingWebhookConfiguration": webhookConfiguration,
  "apps/ControllerRevision": controllerRevision,
  "apps/DaemonSet": daemonSet,
  "apps/Deployment": deployment,
  "apps/ReplicaSet": replicaSet,
  "apps/StatefulSet": statefulSet,
  "batch/CronJob": cronJob,
  "batch/Job": job,
  "autoscaling/HorizontalPodAutoscaler": horizontalPodAutoscaler,
  "certificates.k8s.io/CertificateSigningRequest": certificateSigningRequest,
  "coordination.k8s.io/Lease": lease,
  "events.k8s.io/Event": eventOfOwnGroup,
  "flowcontrol.apiserver.k8s.io/FlowSchema": flowSchema,
  "flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration": priorityLevelConfiguration,
  "networking.k8s.io/IPAddress": ipAddress,
  "networking.k8s.io/Ingress": ingress,
  "networking.k8s.io/IngressClass": ingressClass,
  "networking.k8s.io/NetworkPolicy": networkPolicy,
  "networking.k8s.io/ServiceCIDR": serviceCidr,
  "policy/PodDisruptionBudget": podDisruptionBudget,
  "rbac.authorization.k8s.io/ClusterRole": roleStrategy(false),
  "rbac.authorization.k8s.io/ClusterRoleBinding": bindingStrategy(false),
  "rbac.authorization.k8s.io/Role": roleStrategy(true),
  "rbac.authorization.k8s.io/RoleBinding": bindingStrategy(true),
  "scheduling.k8s.io/PriorityClass": priorityClass,
  "node.k8s.io/RuntimeClass": runtimeClass,
  "storage.k8s.io/CSIDriver": csiDriver,
  "storage.k8s.io/CSINode": csiNode,
  "storage.k8s.io/CSIStorageCapacity": csiStorageCapacity,
  "storage.k8s.io/StorageClass": storageClass,
  "storage.k8s.io/VolumeAttachment": volumeAttachment,
  "storage.k8s.io/VolumeAttributesClass": volumeAttributesClass,
};

/** The strategy of a built-in kind. */
export function strategyOf(group: string, kind: string): Strategy {
  return { ...traitsOf(group, kind), ...strategies[`${group}/${kind}`] };
}

/** How objects of a built-in kind go from one version to another. */
export function conversionOf(_group: string, kind: string): ResourceDefinition["convert"] {
  if (kind === "Event") return convertEvents;
  if (kind === "HorizontalPodAutoscaler") return convertAutoscalers;
  return (objects, apiVersion) => objects.map((object): WorkingObject => ({ ...object, apiVersion }));
}
