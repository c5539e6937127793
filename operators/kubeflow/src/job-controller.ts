import { type Controller, cacheKind, controller, type KindRef, ownedKind, permission, watchKind } from "konverge";
import { Deployment, Pod, Service } from "konverge/kinds";
import { controllerOf } from "konverge/objects";
import type { Schema } from "konverge/schema";
import type { JobResult } from "./clear-away.ts";
import { PLUGIN_GROUPS, VOLCANO_GROUPS } from "./gang-scheduler.ts";
import type { JobObject } from "./job.ts";
import type { Tools } from "./job-tools.ts";
import { OPERATOR_NAME } from "./names.ts";
import { PODS_BY_JOB, reconcileJob } from "./reconcile-job.ts";

/** Upstream's own operator, by the label of its Deployment. */
const UPSTREAM = "control-plane=kubeflow-training-operator";
const LOOK_AGAIN = 300_000;
/**
 * Runs the jobs of one kind. Pods are made and deleted one by one: hardly anything of a pod can be changed, and what a new
 * version of this operator would write differently must not disturb a pod that trains. Services are applied and repaired.
 */
export function jobController<T extends JobObject>(tools: Tools<T>): Controller {
  const { framework } = tools;
  const labelSelector = `${OPERATOR_NAME}=${framework.controller}`;
  return controller(withoutStatus<JobObject>(framework.kind), {
    owns: [ownedKind(Service, { labelSelector }), ...(framework.others?.kinds ?? [])],
    watches: [
      watchKind(Pod, {
        labelSelector,
        to: (pod) => {
          const owner = controllerOf(pod);
          return owner?.kind === framework.kind.kind ? [`${pod.metadata.namespace}/${owner.name}`] : [];
        },
        indexes: { [PODS_BY_JOB]: (pod) => (controllerOf(pod) ? [controllerOf(pod)!.uid] : []) },
      }),
      cacheKind(Deployment, { labelSelector: UPSTREAM }),
    ],
    permissions: [
      permission(Pod, ["get", "create", "delete"], {
        why: `creates the pods of each ${framework.kind.kind}, and deletes those that must restart or are done`,
      }),
      permission(framework.kind, ["update"], { subresource: "status" }),
      permission(framework.kind, ["delete"]),
      ...[PLUGIN_GROUPS, VOLCANO_GROUPS].map((kind) => permission(kind, ["get", "create", "patch", "delete"])),
    ],
    async reconcile(object, context): Promise<JobResult> {
      const [upstream] = context.cache.list(Deployment);
      if (upstream) {
        const where = `${upstream.metadata.namespace}/${upstream.metadata.name}`;
        const message = `${where} reconciles ${framework.kind.kind}s; this operator ignores them`;
        context.events.warning("UpstreamOperator", message);
        return { requeueAfter: LOOK_AGAIN };
      }
      return reconcileJob(object as T, context, tools);
    },
  });
}

/**
 * The kind for the runtime: without a status, so that it does not report one. Upstream's status has no
 * observedGeneration, and the last of its conditions is taken for the job's state.
 */
export function withoutStatus<T extends JobObject>(kind: KindRef<T>): KindRef<T> {
  const { schema } = kind as { schema?: Schema };
  const { status: _, ...properties } = schema?.properties ?? {};
  return Object.assign({ ...kind }, { schema: { ...schema, properties } });
}
