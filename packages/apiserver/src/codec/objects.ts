import type * as kinds from "@konverge/kinds";
import type { WorkingObject } from "./working-object.ts";

/**
 * A type with any text where it names a few, because what comes from clients may say anything until it has been validated;
 * and one that may be changed, because the server fills in what clients leave out.
 */
export type Loose<T> = T extends string
  ? string
  : T extends readonly (infer Item)[]
    ? Loose<Item>[]
    : T extends object
      ? { -readonly [Key in keyof T]: Loose<T[Key]> }
      : T;

/** An object of a known type, as strategies are given it. */
export type Stored<T> = T & WorkingObject;

export type Pod = Loose<kinds.Pod>;
export type PodSpec = Loose<kinds.PodSpec>;
export type PodTemplateSpec = Loose<kinds.PodTemplateSpec>;
export type Container = Loose<kinds.Container>;
export type EphemeralContainer = Loose<kinds.EphemeralContainer>;
export type Volume = Loose<kinds.Volume>;
export type ResourceRequirements = Loose<kinds.ResourceRequirements>;
export type Probe = Loose<kinds.Probe>;
export type Toleration = Loose<kinds.Toleration>;
export type Service = Loose<kinds.Service>;
export type ServiceSpec = Loose<kinds.ServiceSpec>;
export type ServicePort = Loose<kinds.ServicePort>;
export type Namespace = Loose<kinds.Namespace>;
export type Deployment = Loose<kinds.Deployment>;
export type ReplicaSet = Loose<kinds.ReplicaSet>;
export type DaemonSet = Loose<kinds.DaemonSet>;
export type StatefulSet = Loose<kinds.StatefulSet>;
export type ReplicationController = Loose<kinds.ReplicationController>;
export type PodTemplate = Loose<kinds.PodTemplate>;
export type Job = Loose<kinds.Job>;
export type JobSpec = Loose<kinds.JobSpec>;
export type CronJob = Loose<kinds.CronJob>;
export type PriorityClass = Loose<kinds.PriorityClass>;
export type ConfigMap = Loose<kinds.ConfigMap>;
export type Secret = Loose<kinds.Secret>;
export type PersistentVolume = Loose<kinds.PersistentVolume>;
export type PersistentVolumeClaim = Loose<kinds.PersistentVolumeClaim>;
export type PersistentVolumeClaimSpec = Loose<kinds.PersistentVolumeClaimSpec>;
export type StorageClass = Loose<kinds.StorageClass>;
export type ServiceAccount = Loose<kinds.ServiceAccount>;
export type Node = Loose<kinds.Node>;
export type HorizontalPodAutoscaler = Loose<kinds.HorizontalPodAutoscaler>;
export type PodDisruptionBudget = Loose<kinds.PodDisruptionBudget>;
export type NetworkPolicy = Loose<kinds.NetworkPolicy>;
export type Ingress = Loose<kinds.Ingress>;
export type IngressClass = Loose<kinds.IngressClass>;
export type Lease = Loose<kinds.Lease>;
export type EndpointSlice = Loose<kinds.EndpointSlice>;
export type Role = Loose<kinds.Role>;
export type RoleBinding = Loose<kinds.RoleBinding>;
export type ClusterRole = Loose<kinds.ClusterRole>;
export type ClusterRoleBinding = Loose<kinds.ClusterRoleBinding>;
export type CertificateSigningRequest = Loose<kinds.CertificateSigningRequest>;
export type ResourceQuota = Loose<kinds.ResourceQuota>;
export type LimitRange = Loose<kinds.LimitRange>;
export type RuntimeClass = Loose<kinds.RuntimeClass>;
export type SecurityContext = Loose<kinds.SecurityContext>;
export type PodSecurityContext = Loose<kinds.PodSecurityContext>;
export type EnvVar = Loose<kinds.EnvVar>;
export type ContainerPort = Loose<kinds.ContainerPort>;
export type VolumeMount = Loose<kinds.VolumeMount>;
export type Lifecycle = Loose<kinds.Lifecycle>;
export type Affinity = Loose<kinds.Affinity>;
export type TopologySpreadConstraint = Loose<kinds.TopologySpreadConstraint>;
export type Event = Loose<kinds.Event>;
export type Endpoints = Loose<kinds.Endpoints>;
export type NetworkPolicyPort = Loose<kinds.NetworkPolicyPort>;
export type HTTPIngressPath = Loose<kinds.HTTPIngressPath>;
export type CSIDriver = Loose<kinds.CSIDriver>;
export type CSINode = Loose<kinds.CSINode>;
export type CSIStorageCapacity = Loose<kinds.CSIStorageCapacity>;
export type VolumeAttachment = Loose<kinds.VolumeAttachment>;
export type VolumeAttributesClass = Loose<kinds.VolumeAttributesClass>;
export type APIService = Loose<kinds.APIService>;
