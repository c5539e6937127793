import { type Controller, cacheKind, controller, ownedKind, permission } from "konverge";
import { Deployment, Pod, Service } from "konverge/kinds";
import type { JobResult } from "./clear-away.ts";
import { PLUGIN_GROUPS, VOLCANO_GROUPS } from "./gang-scheduler.ts";
import type { JobObject } from "./job.ts";
import type { Tools } from "./job-tools.ts";
import { OPERATOR_NAME } from "./names.ts";
import { reconcileJob } from "./reconcile-job.ts";

/** Upstream's own operator, by the label of its Deployment. */
const UPSTREAM = "control-plane=kubeflow-training-operator";
/** How often the removal of upstream's operator is checked, in milliseconds. */
const UPSTREAM_CHECK_INTERVAL = 300_000;
/**
 * Runs the jobs of one kind. Pods are made and deleted one by one: hardly anything of a pod can be changed, and what a new
 * version of this operator would write differently must not disturb a pod that trains. Services are applied and repaired.
 */
export function jobController<T extends JobObject>(tools: Tools<T>): Controller {
  const { framework } = tools;
  const labelSelector = `${OPERATOR_NAME}=${framework.controller}`;
  return controller<JobObject, JobResult>(framework.kind, {
    owns: [
      ownedKind(Service, { labelSelector }),
      ownedKind(Pod, { labelSelector, createOnly: true }),
      ...(framework.others?.kinds ?? []),
    ],
    watches: [cacheKind(Deployment, { labelSelector: UPSTREAM })],
    // Upstream's status has no observedGeneration, and the last of its conditions is taken for the job's state.
    status: "whole",
    permissions: [
      permission(framework.kind, ["delete"]),
      ...[PLUGIN_GROUPS, VOLCANO_GROUPS].map((kind) => permission(kind, ["get", "create", "patch", "delete"])),
    ],
    async reconcile(object, context): Promise<JobResult> {
      const [upstream] = context.cache.list(Deployment);
      if (upstream) {
        const where = `${upstream.metadata.namespace}/${upstream.metadata.name}`;
        const message = `${where} reconciles ${framework.kind.kind}s; this operator ignores them`;
        context.events.warning("UpstreamOperator", message);
        return { requeueAfter: UPSTREAM_CHECK_INTERVAL };
      }
      return reconcileJob(object as T, context, tools);
    },
  });
}
