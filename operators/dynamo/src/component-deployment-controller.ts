import {
  type Condition,
  type Conditions,
  cacheKind,
  conditionFalse,
  conditionTrue,
  controller,
  findCondition,
  isApplied,
  permission,
  watchKind,
} from "konverge";
import {
  CustomResourceDefinition,
  Deployment,
  HorizontalPodAutoscaler,
  Ingress,
  PersistentVolumeClaim,
  Pod,
  Service,
} from "konverge/kinds";
import { formatLabelSelector } from "konverge/objects";
import { POD_PROBLEM_GRACE_MS } from "konverge/pods";
import {
  autoscalersFor,
  claimsFor,
  deploymentFor,
  ingressesFor,
  isAutoscaled,
  LEADER_WORKER_SET_CRD,
  LeaderWorkerSet,
  leaderWorkerSetFor,
  servicesFor,
} from "./component-children.ts";
import { DynamoComponentDeployment } from "./component-deployment.ts";
import { portOf, type Surroundings, selectorOf } from "./component-pod.ts";
import { DRAIN_PERIOD, type DrainRules, drained } from "./drain.ts";
import { keepLeaderWorkerSet } from "./leader-worker-sets.ts";
import { SELECTOR } from "./names.ts";
import { type Delay, delayOf } from "./readiness.ts";

/** What is known so far is about an older revision. */
const BEING_APPLIED: Delay = { reason: "updating", message: "the newest revision is being applied" };
/** Nobody tells of LeaderWorkerSets. */
const LOOK_AGAIN = 15_000;

/**
 * Keeps the Deployment (or LeaderWorkerSet), the Service, the Ingress, the claim and the autoscaler of each component, and
 * tells whether its newest revision is available.
 */
export function dynamoComponentDeployments(around: Surroundings, drain: DrainRules) {
  return controller(DynamoComponentDeployment, {
    owns: [Deployment, Service, Ingress, PersistentVolumeClaim, HorizontalPodAutoscaler],
    watches: [
      watchKind<Pod, DynamoComponentDeployment>(Pod, {
        labelSelector: SELECTOR,
        to: ({ metadata: { namespace, labels } }) => (labels?.[SELECTOR] ? [`${namespace}/${labels[SELECTOR]}`] : []),
      }),
      cacheKind(CustomResourceDefinition, { fieldSelector: `metadata.name=${LEADER_WORKER_SET_CRD}` }),
    ],
    permissions: [permission(LeaderWorkerSet, ["get", "create", "patch"]), permission(Pod, ["patch"])],
    async reconcile(component, context) {
      const { observed, cache, clock, events } = context;
      const { metadata, spec } = component;
      const pods = cache
        .list(Pod, metadata.namespace)
        .filter(({ metadata: pod }) => pod.labels?.[SELECTOR] === metadata.name && !pod.deletionTimestamp);
      const wanted = spec.replicas ?? 1;
      const current = observed(Deployment, metadata.name)?.spec?.replicas;
      const { replicas: size, draining } =
        spec.multinode || isAutoscaled(component)
          ? { replicas: wanted, draining: 0 }
          : await drained({ pods, port: portOf(component)?.port, current, wanted }, drain, context);
      const deployment = spec.multinode ? undefined : deploymentFor(component, around, size);
      const live = deployment
        ? observed(deployment)
        : await keepLeaderWorkerSet(component, leaderWorkerSetFor(component, around), context);
      const isNewest = !deployment || isApplied(Deployment, deployment, live);
      const delay = isNewest ? delayOf(live, pods, clock.now()) : BEING_APPLIED;
      const { replicas = 0, readyReplicas = 0, updatedReplicas = 0 } = live?.status ?? {};
      tell(component, delay, events);
      return {
        children: [
          ...(deployment ? [deployment] : []),
          ...servicesFor(component),
          ...ingressesFor(component, around),
          ...claimsFor(component),
          ...autoscalersFor(component),
        ],
        status: {
          replicas,
          readyReplicas,
          updatedReplicas,
          ...(draining > 0 && { draining }),
          podSelector: formatLabelSelector({ matchLabels: selectorOf(component) }),
          // What is said to run is what has been seen to run.
          ...(spec.restartId && { restartId: delay ? component.status?.restartId : spec.restartId }),
        },
        conditions: conditionsOf(delay),
        ...lookAgain({ multinode: spec.multinode !== undefined, draining: draining > 0, waiting: delay !== undefined }),
      };
    },
  });
}

/** When to check again what no event reports: too little room is a problem only when it lasts. */
function lookAgain(what: { multinode: boolean; draining: boolean; waiting: boolean }): { requeueAfter?: number } {
  if (what.draining) return { requeueAfter: DRAIN_PERIOD };
  if (what.multinode) return { requeueAfter: LOOK_AGAIN };
  return what.waiting ? { requeueAfter: POD_PROBLEM_GRACE_MS } : {};
}

function conditionsOf(delay: Delay | undefined): Conditions {
  if (!delay) {
    return {
      Available: conditionTrue("DeploymentReady", "the newest revision is available"),
      DynamoComponentReady: conditionTrue("Ready"),
    };
  }
  const { reason, message } = delay;
  return { Available: conditionFalse(reason, message), DynamoComponentReady: conditionFalse(reason, message) };
}

/** Says once what keeps pods from running; that a rollout takes its time is nothing to tell. */
function tell(
  { status }: DynamoComponentDeployment,
  delay: Delay | undefined,
  events: { warning(reason: string, message: string): void },
): void {
  if (!delay?.problem) return;
  const known: Condition | undefined = findCondition(status?.conditions, "Available");
  if (known?.message !== delay.message) events.warning(delay.problem.reason, delay.problem.message);
}
