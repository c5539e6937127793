import {
  type Conditions,
  cacheKind,
  conditionFalse,
  conditionTrue,
  conditionUnknown,
  controller,
  findCondition,
  PermanentError,
  type ReconcileContext,
} from "konverge";
import { Node, PersistentVolumeClaim, Pod, Role, RoleBinding, ServiceAccount } from "konverge/kinds";
import { gpuProductsFor, gpuProductsIn, gpuProductsOf, watchGpuNodes } from "konverge/pods";
import { type FetchMetrics, LoadMonitor, SCRAPE_PERIOD_MS } from "konverge/sizing";
import { ACCOUNT_PERMISSIONS, accountsFor } from "./accounts.ts";
import { DynamoComponent } from "./component.ts";
import { SYSTEM_PORT } from "./component-container.ts";
import { DynamoComponentDeployment } from "./component-deployment.ts";
import { claimsOf, componentsOf, imageFor } from "./graph-children.ts";
import { DynamoGraphDeployment } from "./graph-deployment.ts";
import type { GraphMetrics } from "./graph-metrics.ts";
import { servicesOf, WORKER } from "./graph-services.ts";
import { PROMISED_PART, sizingOf, slaCondition } from "./graph-sizing.ts";
import { COMPONENT, componentName, GRAPH, SELECTOR, SERVING } from "./names.ts";
import { restartPlan } from "./restart.ts";

/**
 * Keeps a DynamoComponentDeployment for each service of a graph, the claims that services share, and the image if it is
 * to be built, and sums up how they are doing. The spec belongs to its author: it is never changed.
 */
export function dynamoGraphDeployments(
  fetchMetrics: FetchMetrics,
  metrics: GraphMetrics,
  around: { readonly etcdAddress: string },
) {
  const load = new LoadMonitor(fetchMetrics, SYSTEM_PORT);
  return controller(DynamoGraphDeployment, {
    owns: [DynamoComponentDeployment, DynamoComponent, PersistentVolumeClaim, ServiceAccount, Role, RoleBinding],
    watches: [cacheKind(Pod, { labelSelector: SELECTOR }), watchGpuNodes()],
    permissions: ACCOUNT_PERMISSIONS,
    async reconcile(graph, context) {
      const { observed, events } = context;
      metrics.graphs = () => context.cache.list(DynamoGraphDeployment);
      const size = graph.spec.model && (await sizeOf(graph, load, context));
      metrics.measured(graph, size?.measured);
      const services = servicesOf(graph, {
        replicas: size?.sizing.replicas ?? 1,
        products: productsOf(graph, context),
      });
      checkNames([...services.keys()], graph.metadata.name);
      const componentOf = (service: string) =>
        observed(DynamoComponentDeployment, componentName(graph.metadata.name, service));
      const image = imageFor(graph);
      // While another one is being built, the services stay with the one they have.
      const built = image && (observed(image)?.status?.image ?? graph.status?.image);
      const restart = restartPlan(graph, [...services.keys()].sort(), componentOf);
      const waitsForImage = image !== undefined && built === undefined && !componentOf([...services.keys()][0]!);
      const buildFailure = image && findCondition(observed(image)?.status?.conditions, "ImageBuilt");
      const components = waitsForImage ? [] : componentsOf(graph, services, { image: built, restartIds: restart.ids });
      const states = [...services].map(([name, { multinode }]) => {
        const live = componentOf(name);
        const available = findCondition(live?.status?.conditions, "Available");
        const current = live !== undefined && live.status?.observedGeneration === live.metadata.generation;
        return {
          name,
          ready: current && available?.status === "True",
          reason: available?.reason ?? "updating",
          message: available?.status === "True" ? undefined : delayMessage(live),
          replicas: live?.status?.replicas ?? 0,
          readyReplicas: live?.status?.readyReplicas ?? 0,
          updatedReplicas: live?.status?.updatedReplicas ?? 0,
          componentKind: multinode ? ("LeaderWorkerSet" as const) : ("Deployment" as const),
        };
      });
      const failed =
        buildFailure?.status === "False" || states.some(({ reason, ready }) => !ready && reason === "failed");
      const ready = !waitsForImage && states.every((one) => one.ready);
      const state = ready ? "successful" : failed ? "failed" : "pending";
      if (ready && graph.status?.state !== "successful")
        events.normal("GraphReady", `all ${states.length} services are ready`);
      tell(graph, states, events);
      const claims = claimsOf(graph, services, (claim) => observed(PersistentVolumeClaim, claim), events);
      return {
        children: [...accountsFor(graph, services, around), ...claims, ...components, ...(image ? [image] : [])],
        status: {
          state,
          services: Object.fromEntries(
            states.map(({ name, reason: _, message, ...reported }) => [
              name,
              {
                componentName: componentName(graph.metadata.name, name),
                ...reported,
                ...(!reported.ready && message && { message }),
              },
            ]),
          ),
          ...(size && { sizing: size.sizing }),
          ...(built && { image: built }),
          ...(graph.spec.restart && {
            restart: {
              observedID: graph.spec.restart.id,
              phase: restart.pending.length === 0 ? ("Completed" as const) : ("Restarting" as const),
              ...(restart.pending.length > 0 && { inProgress: [...restart.pending] }),
            },
          }),
        },
        conditions: {
          ...conditionsOf(states, ready, {
            waits: waitsForImage,
            asked: image !== undefined,
            built: built !== undefined,
            failure: buildFailure?.status === "False" ? buildFailure.message : undefined,
          }),
          ...(size && { SLAMet: slaCondition(graph, size.measured, size.need) }),
        },
        // The workers of a model are scraped periodically: no event reports their load.
        ...(size && { requeueAfter: SCRAPE_PERIOD_MS }),
      };
    },
  });
}

/** The GPU products that a model's workers run on. */
function productsOf({ metadata, spec }: DynamoGraphDeployment, { observed, cache }: ReconcileContext): string[] {
  const { gpuType } = spec.model?.placement ?? {};
  if (!gpuType) return [];
  const worker = observed(DynamoComponentDeployment, componentName(metadata.name, WORKER));
  return gpuProductsFor(gpuType, gpuProductsOf(cache.list(Node)), gpuProductsIn(worker?.spec.extraPodSpec?.affinity));
}

/** How many workers a model takes now, and what was measured to tell. */
async function sizeOf(
  graph: DynamoGraphDeployment,
  load: LoadMonitor,
  { observed, cache, clock, events }: ReconcileContext,
) {
  const { name, namespace, uid = "" } = graph.metadata;
  const worker = observed(DynamoComponentDeployment, componentName(name, WORKER));
  const pods = cache.list(Pod, namespace).filter((pod) => {
    const { labels = {} } = pod.metadata;
    return labels[GRAPH] === name && labels[COMPONENT] === WORKER && isServing(pod);
  });
  const memory = load.memory(uid, clock);
  const measured = worker && (await load.measure(memory, pods, PROMISED_PART, clock));
  const current = worker?.spec.replicas;
  const ready = worker?.status?.readyReplicas ?? 0;
  const { sizing, need } = sizingOf({ graph, measured, current, ready, monotonic: clock.monotonic() }, memory);
  const before = graph.status?.sizing?.replicas;
  if (before !== undefined && before !== sizing.replicas) {
    memory.changedAt = clock.monotonic();
    const reason = sizing.replicas > before ? "ScaledUp" : "ScaledDown";
    events.normal(reason, `from ${before} to ${sizing.replicas} workers: ${sizing.reason}`, { action: "Scale" });
  }
  return { sizing, need, measured };
}

function isServing({ metadata, status }: Pod): boolean {
  const ready = status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") ?? false;
  return ready && !metadata.deletionTimestamp && metadata.labels?.[SERVING] !== "false";
}

function checkNames(services: readonly string[], graph: string): void {
  const names = services.map((service) => componentName(graph, service));
  const twice = names.findIndex((name, i) => names.indexOf(name) !== i);
  if (twice < 0) return;
  throw new PermanentError(
    "ServicesClash",
    `the services ${services[names.indexOf(names[twice]!)]} and ${services[twice]} would both be called ${names[twice]}`,
  );
}

/** What a component waits for. What its controller cannot do, it reports elsewhere than what its pods lack. */
function delayMessage(live: DynamoComponentDeployment | undefined): string {
  const { conditions } = live?.status ?? {};
  const degraded = findCondition(conditions, "Degraded");
  const condition = degraded?.status === "True" ? degraded : findCondition(conditions, "Available");
  return condition?.message || "it is being created";
}

/** Says once which services cannot run; that a rollout takes its time is nothing to tell. */
function tell(
  { status }: DynamoGraphDeployment,
  states: readonly ServiceState[],
  events: ReconcileContext["events"],
): void {
  const known = findCondition(status?.conditions, "Ready")?.message ?? "";
  for (const { name, ready, reason, message } of states) {
    if (ready || reason === "updating" || reason === "Progressing" || !message) continue;
    const told = `${name}: ${message}`;
    if (!known.includes(told)) events.warning("ServiceNotReady", told);
  }
}

interface ServiceState {
  readonly name: string;
  readonly ready: boolean;
  readonly reason: string;
  readonly message: string | undefined;
}

function conditionsOf(
  states: readonly ServiceState[],
  ready: boolean,
  image: { waits: boolean; asked: boolean; built: boolean; failure: string | undefined },
): Conditions {
  const ImageBuilt = !image.asked
    ? conditionTrue("NotAsked", "the services have images; nothing is built")
    : image.built
      ? conditionTrue("Built")
      : image.failure
        ? conditionFalse("BuildFailed", image.failure)
        : conditionUnknown("Building");
  if (ready) return { Ready: conditionTrue("all_resources_are_ready", "All resources are ready"), ImageBuilt };
  if (image.waits) {
    const reason = image.failure ? "image_build_failed" : "building_image";
    return { Ready: conditionFalse(reason, image.failure ?? "the services start when the image is built"), ImageBuilt };
  }
  const waiting = states.filter((one) => !one.ready);
  const message = waiting.map(({ name, message: told }) => `${name}: ${told}`).join("; ");
  const capacity = waiting.find(({ reason }) => reason === "insufficient_capacity");
  return {
    Ready: conditionFalse(capacity ? "insufficient_capacity" : "some_resources_are_not_ready", message),
    ImageBuilt,
  };
}
