import {
  type Condition,
  type Conditions,
  conditionFalse,
  conditionTrue,
  controller,
  type Drafted,
  ExternalError,
  findCondition,
  isApplied,
  ownedKind,
  permission,
  type ReconcileContext,
  watchKind,
} from "konverge";
import {
  ConfigMap,
  Deployment,
  HorizontalPodAutoscaler,
  Ingress,
  PersistentVolumeClaim,
  Pod,
  ResourceClaimTemplate,
  Service,
} from "konverge/kinds";
import { formatLabelSelector } from "konverge/objects";
import { POD_PROBLEM_GRACE_MS } from "konverge/pods";
import { claimFor, hasSeveralPods, sharingOf, shrinkRefusal } from "./claim.ts";
import {
  autoscalersFor,
  deploymentFor,
  ingressesFor,
  isAutoscaled,
  LeaderWorkerSet,
  leaderWorkerSetFor,
  pickerConfigFor,
  servicesFor,
} from "./component-children.ts";
import { DynamoComponentDeployment } from "./component-deployment.ts";
import { claimName, identityOf, labelsOf, portOf, type Surroundings, selectorOf, sharingIn } from "./component-pod.ts";
import { DRAIN_PERIOD, type DrainRules, drained } from "./drain.ts";
import { claimTemplateFor } from "./gpu-memory-service.ts";
import { InferencePool, inferencePoolFor } from "./inference-pool.ts";
import { SELECTOR } from "./names.ts";
import { type Delay, delayOf } from "./readiness.ts";

/** What is known so far is about an older revision. */
const BEING_APPLIED: Delay = { reason: "updating", message: "the newest revision is being applied" };
/**
 * Keeps the Deployment (or LeaderWorkerSet), the Service, the Ingress, the claim and the autoscaler of each component, and
 * tells whether its newest revision is available.
 */
export function dynamoComponentDeployments(around: Surroundings, drain: DrainRules) {
  return controller(DynamoComponentDeployment, {
    owns: [
      Deployment,
      Service,
      Ingress,
      PersistentVolumeClaim,
      HorizontalPodAutoscaler,
      ConfigMap,
      ResourceClaimTemplate,
      ownedKind(LeaderWorkerSet, { optional: true }),
      ownedKind(InferencePool, { optional: true }),
    ],
    watches: [
      watchKind<Pod, DynamoComponentDeployment>(Pod, {
        labelSelector: SELECTOR,
        to: ({ metadata: { namespace, labels } }) => (labels?.[SELECTOR] ? [`${namespace}/${labels[SELECTOR]}`] : []),
      }),
      watchKind<PersistentVolumeClaim, DynamoComponentDeployment>(PersistentVolumeClaim, {
        references: ({ metadata, spec }) =>
          spec.pvc && !spec.pvc.create ? [`${metadata.namespace}/${spec.pvc.name}`] : [],
      }),
    ],
    permissions: [permission(Pod, ["patch"], { why: "labels the pods of each DynamoComponentDeployment" })],
    async reconcile(component, context) {
      const { observed, cache, clock, events } = context;
      const { metadata, spec } = component;
      if (spec.multinode && !context.isServed(LeaderWorkerSet)) throw leaderWorkerSetMissing();
      const pods = cache
        .list(Pod, metadata.namespace)
        .filter(({ metadata: pod }) => pod.labels?.[SELECTOR] === metadata.name && !pod.deletionTimestamp);
      const running = observed(Deployment, metadata.name);
      const { claim, own } = claimOf(component, context);
      const sharing = claim ? sharingOf(component, claim) : sharingIn(running?.spec?.template);
      const wanted = spec.replicas ?? 1;
      // How pods can share a claim is known when it is there.
      if (spec.pvc && !claim && !running) return waitingForClaim(component, around, events);
      const current = running?.spec?.replicas;
      const { replicas: size, draining } =
        spec.multinode || isAutoscaled(component) || identityOf(component).type !== "frontend"
          ? { replicas: wanted, draining: 0 }
          : await drained({ pods, port: portOf(component)?.port, current, wanted }, drain, context);
      const deployment = spec.multinode ? undefined : deploymentFor(component, around, { replicas: size, sharing });
      const set = spec.multinode && leaderWorkerSetFor(component, around);
      const live = deployment ? observed(deployment) : observed(LeaderWorkerSet, metadata.name);
      const isNewest = !deployment || isApplied(Deployment, deployment, live);
      const delay = isNewest ? delayOf(live, pods, clock.now()) : BEING_APPLIED;
      const { replicas = 0, readyReplicas = 0, updatedReplicas = 0 } = live?.status ?? {};
      tell(component, delay, events);
      return {
        children: [
          ...(deployment ? [deployment] : []),
          ...(set ? [set] : []),
          ...servicesFor(component, around),
          ...ingressesFor(component, around),
          ...(own ? [own] : []),
          ...autoscalersFor(component),
          ...pickerConfigFor(component),
          ...inferencePoolFor(component),
          ...claimTemplateFor(component),
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
        ...requeue({ draining: draining > 0, waiting: delay !== undefined }),
      };
    },
  });
}

function leaderWorkerSetMissing(): ExternalError {
  return new ExternalError(
    "LeaderWorkerSetMissing",
    "spec.multinode needs the LeaderWorkerSet API (leaderworkerset.x-k8s.io), which is not installed",
  );
}

type Events = { warning(reason: string, message: string): void };

/** Pods are made when the claim is there. */
function waitingForClaim(component: DynamoComponentDeployment, around: Surroundings, events: Events) {
  const message = `there is no PersistentVolumeClaim ${claimName(component)}`;
  const delay: Delay = { reason: "insufficient_capacity", message, problem: { reason: "ClaimMissing", message } };
  tell(component, delay, events);
  return {
    children: [...servicesFor(component, around), ...ingressesFor(component, around)],
    status: { replicas: 0, readyReplicas: 0, updatedReplicas: 0 },
    conditions: conditionsOf(delay),
  };
}

/** The claim that a component's pods use: one that it brings with it, or another that is there. */
function claimOf(
  component: DynamoComponentDeployment,
  { cache, events }: ReconcileContext,
): { claim?: PersistentVolumeClaim | undefined; own?: Drafted<PersistentVolumeClaim> } {
  const { metadata, spec } = component;
  if (!spec.pvc) return {};
  const name = claimName(component);
  const existing = cache.get(PersistentVolumeClaim, `${metadata.namespace}/${name}`);
  if (!spec.pvc.create) return { claim: existing };
  const refusal = shrinkRefusal(spec.pvc, existing);
  const isNews = component.status?.observedGeneration !== metadata.generation;
  if (refusal && isNews) events.warning("ShrinkRefused", refusal);
  const own = claimFor({ name, namespace: metadata.namespace!, labels: labelsOf(component) }, spec.pvc, {
    several: hasSeveralPods(spec),
    existing,
  });
  return { claim: own, own };
}

/** When to check again what no event reports: too little room is a problem only when it lasts. */
function requeue(what: { draining: boolean; waiting: boolean }): { requeueAfter?: number } {
  if (what.draining) return { requeueAfter: DRAIN_PERIOD };
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
function tell({ status }: DynamoComponentDeployment, delay: Delay | undefined, events: Events): void {
  if (!delay?.problem) return;
  const known: Condition | undefined = findCondition(status?.conditions, "Available");
  if (known?.message !== delay.message) events.warning(delay.problem.reason, delay.problem.message);
}
