import {
  type ConditionState,
  type Conditions,
  cacheKind,
  conditionFalse,
  conditionTrue,
  controller,
  type Drafted,
  type EventSink,
  isApplied,
  type KubeObject,
  PermanentError,
  watchKind,
} from "konverge";
import { Deployment, HorizontalPodAutoscaler, Pod, PodDisruptionBudget, Service } from "konverge/kinds";
import { readinessOf } from "konverge/objects";
import {
  POD_PROBLEM_GRACE_MS,
  problemConditions,
  replicaFailureMessage,
  reportProblem,
  workloadProblem,
} from "konverge/pods";
import { DEPLOYMENT_ID, idOf } from "./names.ts";
import { type RouteSettings, routeKinds, routingOf } from "./routing.ts";
import { seldonErrors } from "./seldon-admission.ts";
import { type Children, childrenOf, type Images } from "./seldon-children.ts";
import { type Predictor, SeldonDeployment } from "./seldon-deployment.ts";
import { isV2 } from "./servers.ts";

/** Upstream's own operator, by the label `control-plane` of its Deployment. */
const UPSTREAM = "seldon-controller-manager";
/** How often the removal of upstream's operator is checked, in milliseconds. */
const UPSTREAM_CHECK_INTERVAL = 300_000;

/**
 * Applies the Deployments, Services, autoscalers, budgets and routes of each SeldonDeployment, and reports their state in
 * upstream's terms. Where upstream's operator runs, this one only reports that.
 */
export function seldonDeployments(images: Images, routes: RouteSettings) {
  return controller(SeldonDeployment, {
    owns: [Deployment, Service, HorizontalPodAutoscaler, PodDisruptionBudget, ...routeKinds],
    watches: [
      cacheKind(Deployment),
      watchKind<Pod, SeldonDeployment>(Pod, {
        labelSelector: DEPLOYMENT_ID,
        to: ({ metadata: { namespace, labels } }) =>
          labels?.[DEPLOYMENT_ID] ? [`${namespace}/${labels[DEPLOYMENT_ID]}`] : [],
      }),
    ],
    async reconcile(object, context) {
      const { observed, cache, events, clock, isServed } = context;
      const upstream = cache.list(Deployment).find(({ metadata }) => metadata.labels?.["control-plane"] === UPSTREAM);
      if (upstream) {
        const where = `${upstream.metadata.namespace}/${upstream.metadata.name}`;
        events.warning("UpstreamOperator", `${where} reconciles SeldonDeployments; this operator ignores them`);
        return { requeueAfter: UPSTREAM_CHECK_INTERVAL };
      }
      const errors = seldonErrors(object);
      if (errors.length > 0) {
        throw new PermanentError("InvalidGraph", errors.map(({ field, message }) => `${field}: ${message}`).join("; "));
      }
      const children = childrenOf(object, images);
      const { services, autoscalers, budgets, applied } = children;
      const deployments = children.deployments.map((one) => ({ name: one.metadata.name, live: observed(one) }));
      const states = deployments.map(({ live }, i) =>
        isApplied(Deployment, applied[i]!, live) ? readinessOf(live!, clock.now()).status : "InProgress",
      );
      const ready = states.every((one) => one === "Current");
      const failed = states.some((one) => one === "Failed");
      const pods = cache.list(Pod, object.metadata.namespace).filter(({ metadata }) => {
        return metadata.labels?.[DEPLOYMENT_ID] === idOf(object);
      });
      const creationError = deployments
        .map(({ live }) => replicaFailureMessage(live))
        .find((message) => message !== undefined);
      const problem = ready ? undefined : workloadProblem({ pods, creationError, now: clock.now() });
      reportProblem(object, problem, events);
      const routing = routingOf(object, children.backends, routes, isServed);
      const state = ready ? "Available" : failed ? "Failed" : "Creating";
      return {
        children: [...applied, ...services, ...autoscalers, ...budgets, ...routing.children],
        status: {
          state,
          description: problem?.message ?? (failed ? "Deployment is no longer progressing and not available." : ""),
          replicas: deployments[0]?.live?.status?.replicas ?? 0,
          deploymentStatus: Object.fromEntries(
            deployments.map(({ name, live }) => {
              const { replicas = 0, availableReplicas = 0 } = live?.status ?? {};
              const { explainerFor } = children.endpoints.find(({ svcName }) => svcName === name) ?? {};
              return [name, { replicas, availableReplicas, ...(explainerFor && { explainerFor }) }];
            }),
          ),
          serviceStatus: Object.fromEntries(children.endpoints.map((one) => [one.svcName, { ...one }])),
          address: { url: addressOf(object, children) },
        },
        conditions: {
          ...conditionsOf(children, (draft) => observed<KubeObject>(draft) !== undefined, ready, failed),
          ...(problem && problemConditions(problem)),
        },
        // Too little room is a problem only when it lasts, and no event reports that.
        ...(!ready && { requeueAfter: POD_PROBLEM_GRACE_MS }),
        report(outcome) {
          const conditions = routing.conditions(outcome);
          reportSplit(object, conditions["TrafficSplit"], events);
          return { conditions };
        },
      };
    },
  });
}

/** Emits an event when requests cease to be split. */
function reportSplit({ status }: SeldonDeployment, split: ConditionState | undefined, events: EventSink): void {
  const known = status?.conditions?.find(({ type }) => type === "TrafficSplit");
  if (split?.status === "False" && known?.reason !== split.reason) events.warning(split.reason, split.message ?? "");
}

/** The address of the first predictor, for clients that read addresses (Knative's brokers). */
function addressOf({ metadata, spec }: SeldonDeployment, { backends }: Children): string {
  const { service, http, predictor } = backends[0]!;
  return `http://${service}.${metadata.namespace}.svc.cluster.local:${http}${predictionPath(spec.protocol, predictor)}`;
}

function predictionPath(protocol: SeldonDeployment["spec"]["protocol"], { graph }: Predictor): string {
  if (protocol === "tensorflow") return `/v1/models/${graph.name}:predict`;
  return isV2(protocol) ? `/v2/models/${graph.name}/infer` : "/api/v1.0/predictions";
}

type Counted = Drafted<Service> | Drafted<HorizontalPodAutoscaler> | Drafted<PodDisruptionBudget>;

/** Upstream's conditions in upstream's words; what is not used counts as ready. */
function conditionsOf(
  { services, autoscalers, budgets }: Children,
  exists: (draft: Counted) => boolean,
  ready: boolean,
  failed: boolean,
): Conditions {
  const some = (drafts: readonly Counted[], none: string, all: string, missing: string) => {
    if (drafts.length === 0) return conditionTrue(none);
    return drafts.every(exists) ? conditionTrue(all) : conditionFalse(missing);
  };
  const failure = failed
    ? conditionFalse("ProgressDeadlineExceeded", "Deployment is no longer progressing and not available.")
    : conditionFalse("MinimumReplicasUnavailable", "Deployment does not have minimum availability.");
  return {
    DeploymentsReady: ready
      ? conditionTrue("MinimumReplicasAvailable", "Deployment has minimum availability.")
      : failure,
    ServicesReady: some(services, "No services defined", "All services created", "Not all services created"),
    HpasReady: some(autoscalers, "No HPAs defined", "All HPAs resources ready", "HPAs not ready"),
    PdbsReady: some(budgets, "No PDBs defined", "All PDBs resources ready", "PDBs not ready"),
  };
}
