import type { AnyObject } from "@konverge/core";
import type { ResourceDefinition, Strategy } from "../definition.ts";
import { traitsOf } from "../traits.ts";
import { job } from "./job.ts";
import { namespace } from "./namespace.ts";
import { pod } from "./pod.ts";
import { service } from "./service/index.ts";
import {
  cronJob,
  daemonSet,
  deployment,
  podTemplate,
  replicaSet,
  replicationController,
  statefulSet,
} from "./workloads.ts";

/** What is special about built-in kinds beyond their traits, by group and kind. */
const strategies: Record<string, Strategy> = {
  "/Namespace": namespace,
  "/Pod": pod,
  "/PodTemplate": podTemplate,
  "/ReplicationController": replicationController,
  "/Service": service,
  "apps/DaemonSet": daemonSet,
  "apps/Deployment": deployment,
  "apps/ReplicaSet": replicaSet,
  "apps/StatefulSet": statefulSet,
  "batch/CronJob": cronJob,
  "batch/Job": job,
};

/** The strategy of a built-in kind. */
export function strategyOf(group: string, kind: string): Strategy {
  return { ...traitsOf(group, kind), ...strategies[`${group}/${kind}`] };
}

/** How objects of a built-in kind go from one version to another. */
export function conversionOf(_group: string, _kind: string): ResourceDefinition["convert"] {
  return (objects, apiVersion) => objects.map((object): AnyObject => ({ ...object, apiVersion }));
}
