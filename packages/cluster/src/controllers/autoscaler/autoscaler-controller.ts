import { matchesLabels, parseApiVersion, parseLabelSelector, timestamp } from "@konverge/core";
import {
  HorizontalPodAutoscaler,
  type HorizontalPodAutoscalerCondition,
  type HorizontalPodAutoscalerStatus,
  type MetricStatus,
  Pod,
} from "@konverge/kinds";
import { cacheKind, type ReconcileContext, valueChanged } from "@konverge/runtime";
import { builtInController } from "../../parts/built-in-controller.ts";
import { type ComponentContext, controllersComponent } from "../../parts/part.ts";
import type { ServedKinds } from "../../parts/served-kinds.ts";
import { messageOf } from "../workloads/pod-control.ts";
import { withCondition, writeStatus } from "../workloads/status.ts";
import { FAILURES, MetricError, measure, type Proposal, podsOfSelector, type Target } from "./measure.ts";
import { type History, noteScaled, pace } from "./pace.ts";

const NAME = "horizontal-pod-autoscaler";
/** The sync period, in milliseconds. */
const PERIOD = 15_000;

const LIMITS: Record<string, string> = {
  TooManyReplicas: "the desired replica count is more than the maximum replica count",
  TooFewReplicas: "the desired replica count is less than the minimum replica count",
  ScaleUpLimit: "the desired replica count is increasing faster than the maximum scale rate",
  ScaleDownLimit: "the desired replica count is decreasing faster than the maximum scale rate",
};
const STABILIZED: Record<string, string> = {
  ScaleUpStabilized: "recent recommendations were lower than current one, applying the lowest recent recommendation",
  ScaleDownStabilized:
    "recent recommendations were higher than current one, applying the highest recent recommendation",
};

/** Sizes workloads by metrics. */
function autoscalerController({ kinds }: ComponentContext) {
  const histories = new Map<string, History>();
  return builtInController(HorizontalPodAutoscaler, {
    name: NAME,
    when: valueChanged((hpa: HorizontalPodAutoscaler) => hpa.metadata.generation ?? hpa.spec),
    watches: [cacheKind(Pod)],
    async reconcile(hpa, context) {
      const uid = hpa.metadata.uid!;
      const history = histories.get(uid) ?? { recommendations: [], ups: [], downs: [] };
      histories.set(uid, history);
      await new Reconciliation(context, kinds, hpa, history).run();
      return { requeueAfter: PERIOD };
    },
  });
}

/** One reconcile of one autoscaler. */
class Reconciliation {
  readonly #context: ReconcileContext;
  readonly #kinds: ServedKinds;
  readonly #hpa: HorizontalPodAutoscaler;
  readonly #history: History;
  #conditions: readonly HorizontalPodAutoscalerCondition[];
  #metrics: readonly MetricStatus[];

  constructor(context: ReconcileContext, kinds: ServedKinds, hpa: HorizontalPodAutoscaler, history: History) {
    this.#context = context;
    this.#kinds = kinds;
    this.#hpa = hpa;
    this.#history = history;
    this.#conditions = hpa.status?.conditions ?? [];
    this.#metrics = hpa.status?.currentMetrics ?? [];
  }

  async run(): Promise<void> {
    const { client, events, clock } = this.#context;
    const { namespace } = this.#hpa.metadata;
    const { scaleTargetRef, minReplicas = 1, maxReplicas = 1 } = this.#hpa.spec!;
    const { kind, name, apiVersion = "v1" } = scaleTargetRef;
    const resource = this.#kinds.byName(parseApiVersion(apiVersion).group, kind);
    const scale = await (async () => {
      if (!resource) throw new Error(`no matches for kind "${kind}" in group "${parseApiVersion(apiVersion).group}"`);
      return client.getScale(resource, `${namespace}/${name}`);
    })().catch(async (error: unknown) => {
      events.warning("FailedGetScale", messageOf(error));
      const message = `the HPA controller was unable to get the target's current scale: ${messageOf(error)}`;
      this.#condition("AbleToScale", "False", "FailedGetScale", message);
      await this.#report(this.#hpa.status?.currentReplicas ?? 0, this.#hpa.status?.desiredReplicas ?? 0);
      return undefined;
    });
    if (!scale || !resource) return;
    this.#condition(
      "AbleToScale",
      "True",
      "SucceededGetScale",
      "the HPA controller was able to get the target's current scale",
    );
    const current = scale.spec.replicas ?? 0;
    const statusReplicas = scale.status?.replicas ?? 0;
    let desired = current;
    let reason = "";
    if (current === 0 && minReplicas !== 0) {
      const message = "scaling is disabled since the replica count of the target is zero";
      this.#condition("ScalingActive", "False", "ScalingDisabled", message);
    } else if (current > maxReplicas)
      [desired, reason] = [maxReplicas, "Current number of replicas above Spec.MaxReplicas"];
    else if (current < minReplicas)
      [desired, reason] = [minReplicas, "Current number of replicas below Spec.MinReplicas"];
    else {
      const requirements = parseLabelSelector(scale.status?.selector ?? "");
      const pods = podsOfSelector(this.#context, namespace!, (labels) => matchesLabels(requirements, labels));
      const target = {
        hpa: this.#hpa,
        specReplicas: current,
        statusReplicas,
        labelSelector: scale.status?.selector ?? "",
        pods,
      };
      const best = await this.#recommend(target);
      if (!best) return this.#report(statusReplicas, this.#hpa.status?.desiredReplicas ?? 0);
      if (best.replicas > current) reason = `${best.name} above target`;
      if (best.replicas < current) reason = "All metrics below target";
      desired = this.#pace(current, best.replicas);
    }
    if (desired === current) return this.#report(statusReplicas, desired);
    try {
      // Direct write: the workload is not a child: its size is set by its scale subresource.
      await client.scale(resource, `${namespace}/${name}`, desired);
    } catch (error) {
      events.warning("FailedRescale", `New size: ${desired}; reason: ${reason}; error: ${messageOf(error)}`);
      this.#condition(
        "AbleToScale",
        "False",
        "FailedUpdateScale",
        `the HPA controller was unable to update the target scale: ${messageOf(error)}`,
      );
      await this.#report(statusReplicas, current);
      throw error;
    }
    this.#condition(
      "AbleToScale",
      "True",
      "SucceededRescale",
      `the HPA controller was able to update the target scale to ${desired}`,
    );
    events.normal("SuccessfulRescale", `New size: ${desired}; reason: ${reason}`);
    noteScaled(this.#hpa, this.#history, current, desired, clock.now());
    await this.#report(statusReplicas, desired, timestamp(clock));
  }

  /** The largest replica count of all metrics. A metric that cannot be read only prevents scaling down. */
  async #recommend(target: Target): Promise<Proposal | undefined> {
    const { events } = this.#context;
    const wanted = this.#hpa.spec?.metrics ?? [
      { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } } },
    ];
    const proposals: Proposal[] = [];
    let failure: { error: unknown; reason: string } | undefined;
    for (const metric of wanted) {
      try {
        proposals.push(await measure(this.#context, this.#kinds, target, metric));
      } catch (error) {
        const reason = FAILURES[metric.type] ?? "InvalidMetricSourceType";
        events.warning(reason, messageOf(error));
        failure ??= { error, reason };
      }
    }
    this.#metrics = proposals.map(({ status }) => status);
    const best = proposals.reduce<Proposal | undefined>((a, b) => (a && a.replicas >= b.replicas ? a : b), undefined);
    if (failure && (!best || best.replicas < target.specReplicas)) {
      const why = `invalid metrics (${wanted.length - proposals.length} invalid out of ${wanted.length}), first error is: ${failure.error instanceof MetricError ? failure.error.inAll : messageOf(failure.error)}`;
      events.warning("FailedComputeMetricsReplicas", why);
      const message = `the HPA was unable to compute the replica count: ${messageOf(failure.error)}`;
      this.#condition("ScalingActive", "False", failure.reason, message);
      return undefined;
    }
    const message = `the HPA was able to successfully calculate a replica count from ${best!.name}`;
    this.#condition("ScalingActive", "True", "ValidMetricFound", message);
    return best;
  }

  #pace(current: number, recommended: number): number {
    const { replicas, stabilized, limit } = pace(
      this.#hpa,
      this.#history,
      current,
      recommended,
      this.#context.clock.now(),
    );
    if (stabilized) this.#condition("AbleToScale", "True", stabilized, STABILIZED[stabilized]!);
    else this.#condition("AbleToScale", "True", "ReadyForNewScale", "recommended size matches current size");
    if (limit) this.#condition("ScalingLimited", "True", limit, LIMITS[limit]!);
    else
      this.#condition(
        "ScalingLimited",
        "False",
        "DesiredWithinRange",
        "the desired count is within the acceptable range",
      );
    return replicas;
  }

  #condition(type: string, status: string, reason: string, message: string): void {
    this.#conditions = withCondition(
      this.#conditions,
      { type, status, reason, message },
      timestamp(this.#context.clock),
    );
  }

  async #report(currentReplicas: number, desiredReplicas: number, scaledAt?: string): Promise<void> {
    const lastScaleTime = scaledAt ?? this.#hpa.status?.lastScaleTime;
    const status: HorizontalPodAutoscalerStatus = {
      ...(this.#hpa.metadata.generation !== undefined && { observedGeneration: this.#hpa.metadata.generation }),
      currentReplicas,
      desiredReplicas,
      currentMetrics: this.#metrics,
      conditions: this.#conditions,
      ...(lastScaleTime && { lastScaleTime }),
    };
    await writeStatus(this.#context, HorizontalPodAutoscaler, this.#hpa, status);
  }
}

/** Runs HorizontalPodAutoscalers. */
export const autoscalers = controllersComponent(NAME, [HorizontalPodAutoscaler], (context) => [
  autoscalerController(context),
]);
