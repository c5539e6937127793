import {
  type Conditions,
  cacheKind,
  conditionFalse,
  conditionTrue,
  controller,
  type Drafted,
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
import { seldonErrors } from "./seldon-admission.ts";
import { type Children, childrenOf, type Images } from "./seldon-children.ts";
import { SeldonDeployment } from "./seldon-deployment.ts";

/** Upstream's own operator, by the label `control-plane` of its Deployment. */
const UPSTREAM = "seldon-controller-manager";
/** How often it is looked whether upstream's operator has gone. */
const LOOK_AGAIN = 300_000;

/**
 * Keeps the Deployments, Services, autoscalers and budgets of each SeldonDeployment, and tells in upstream's words how they
 * are doing. Where upstream's operator runs, this one only says so.
 */
export function seldonDeployments(images: Images) {
  return controller(SeldonDeployment, {
    owns: [Deployment, Service, HorizontalPodAutoscaler, PodDisruptionBudget],
    watches: [
      cacheKind(Deployment),
      watchKind<Pod, SeldonDeployment>(Pod, {
        labelSelector: DEPLOYMENT_ID,
        to: ({ metadata: { namespace, labels } }) =>
          labels?.[DEPLOYMENT_ID] ? [`${namespace}/${labels[DEPLOYMENT_ID]}`] : [],
      }),
    ],
    reconcile(object, { observed, cache, events, clock }) {
      const upstream = cache.list(Deployment).find(({ metadata }) => metadata.labels?.["control-plane"] === UPSTREAM);
      if (upstream) {
        const where = `${upstream.metadata.namespace}/${upstream.metadata.name}`;
        events.warning("UpstreamOperator", `${where} reconciles SeldonDeployments; this operator ignores them`);
        return { requeueAfter: LOOK_AGAIN };
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
        .find((told) => told !== undefined);
      const problem = ready ? undefined : workloadProblem({ pods, creationError, now: clock.now() });
      reportProblem(object, problem, events);
      const state = ready ? "Available" : failed ? "Failed" : "Creating";
      return {
        children: [...applied, ...services, ...autoscalers, ...budgets],
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
      };
    },
  });
}

/** The address of the last predictor, for clients that read addresses (Knative's brokers). */
function addressOf({ spec }: SeldonDeployment, { endpoints }: Children): string {
  const { httpEndpoint, grpcEndpoint } = endpoints.at(-1)!;
  const inCluster = (endpoint: string) => endpoint.replace(":", ".svc.cluster.local:");
  if (spec.transport === "grpc" && grpcEndpoint) return inCluster(grpcEndpoint);
  const path = spec.protocol === "v2" || spec.protocol === "kfserving" ? "/v2/models/infer" : "/api/v1.0/predictions";
  return `http://${inCluster(httpEndpoint)}${path}`;
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
