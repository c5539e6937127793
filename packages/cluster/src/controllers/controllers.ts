import type { ControlPlaneComponent } from "../parts/part.ts";
import { autoscalers } from "./autoscaler/autoscaler-controller.ts";
import { certificates } from "./certificates/certificates.ts";
import { clusterRoleAggregation } from "./cluster-role-aggregation.ts";
import { cronJobs } from "./cron-job/cron-job-controller.ts";
import { daemonSets } from "./daemon-set/daemon-set-controller.ts";
import { deployments } from "./deployment/deployment-controller.ts";
import { disruptionBudgets } from "./disruption/disruption-controller.ts";
import { garbageCollector } from "./garbage-collector/garbage-collector.ts";
import { abandonedPods } from "./job/abandoned-pods.ts";
import { jobs } from "./job/job-controller.ts";
import { namespaces } from "./namespace/namespace-controller.ts";
import { nodeLifecycle } from "./node/node-lifecycle.ts";
import { podCollector } from "./node/pod-gc.ts";
import { taintEviction } from "./node/taint-eviction.ts";
import { resourceQuotas } from "./quota/quota-controller.ts";
import { replicaSets, replicationControllers } from "./replica-set.ts";
import { releasedClaims, templatedClaims } from "./resource-claim/resource-claims.ts";
import { endpointSlices } from "./service/endpoint-slices.ts";
import { endpoints } from "./service/endpoints.ts";
import { mirroredSlices } from "./service/mirrored-slices.ts";
import { accountTokens, rootCertificates, serviceAccounts } from "./service-accounts.ts";
import { statefulSets } from "./stateful-set/stateful-set-controller.ts";
import { ttlAfterFinished } from "./ttl-after-finished.ts";
import { attachDetach } from "./volume/attach-detach.ts";
import { attacher } from "./volume/attacher.ts";
import { volumeAttributesClasses } from "./volume/class-protection.ts";
import { ephemeralVolumes } from "./volume/ephemeral-volumes.ts";
import { defaultStorageClass, provisioner } from "./volume/provisioner.ts";
import { volumes } from "./volume/volumes-controller.ts";

/** What kube-controller-manager does, and a storage driver whose volumes exist in name only. */
export const BUILT_IN_CONTROLLERS: readonly ControlPlaneComponent[] = [
  garbageCollector,
  namespaces,
  serviceAccounts,
  accountTokens,
  rootCertificates,
  defaultStorageClass,
  deployments,
  replicaSets,
  replicationControllers,
  statefulSets,
  daemonSets,
  jobs,
  abandonedPods,
  cronJobs,
  ttlAfterFinished,
  endpoints,
  endpointSlices,
  mirroredSlices,
  volumes,
  provisioner,
  attachDetach,
  attacher,
  ephemeralVolumes,
  volumeAttributesClasses,
  nodeLifecycle,
  taintEviction,
  podCollector,
  disruptionBudgets,
  resourceQuotas,
  autoscalers,
  clusterRoleAggregation,
  certificates,
  templatedClaims,
  releasedClaims,
];
