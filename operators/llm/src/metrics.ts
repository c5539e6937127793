import { type KubeObject, keyOf } from "konverge";
import type { PartOfRequest } from "konverge/sizing";
import { Counter, Gauge, type Registry } from "prom-client";

/** Numbers about one object, by the name of the series they appear in. */
type Numbers<N extends string> = Readonly<Partial<Record<N, number>>>;

/** The latest numbers about each object of a kind that still exists. */
class LatestNumbers<N extends string> {
  readonly #latest = new Map<string, { namespace: string; name: string; numbers: Numbers<N> }>();
  #existing: (() => Iterable<KubeObject>) | undefined;

  /** `existing` returns the objects that exist, at each scrape: no event reports that one was deleted. */
  set(object: KubeObject, numbers: Numbers<N>, existing: () => Iterable<KubeObject>): void {
    const { namespace = "", name } = object.metadata;
    this.#latest.set(keyOf(object), { namespace, name, numbers });
    this.#existing = existing;
  }

  values() {
    const known = new Set(Array.from(this.#existing?.() ?? [], (object) => keyOf(object)));
    for (const key of this.#latest.keys()) if (!known.has(key)) this.#latest.delete(key);
    return this.#latest.values();
  }
}

/** The metrics of this operator's objects, besides those of every controller. */
export class ModelMetrics {
  readonly models = new LatestNumbers<"wanted" | "ready">();
  readonly deployments = new LatestNumbers<
    "wanted" | "ready" | "load" | "latency" | PartOfRequest | "withinSla" | "cost" | "canaryWeight" | "canaryRolledBack"
  >();
  /** How often a ModelDeployment was resized, by reason. */
  readonly decisions: Counter<"namespace" | "name" | "reason">;

  constructor(registry: Registry) {
    const registers = [registry];
    const gauge = <N extends string>(
      name: string,
      help: string,
      source: { values(): Iterable<{ namespace: string; name: string; numbers: Numbers<N> }> },
      which: N,
    ) =>
      new Gauge({
        name,
        help,
        labelNames: ["namespace", "name"],
        registers,
        collect() {
          this.reset();
          for (const one of source.values()) {
            const value = one.numbers[which];
            if (value !== undefined) this.set({ namespace: one.namespace, name: one.name }, value);
          }
        },
      });
    gauge("llm_model_replicas_wanted", "Number of replicas that an LLMModel requests.", this.models, "wanted");
    gauge("llm_model_replicas_ready", "Number of ready replicas of an LLMModel.", this.models, "ready");
    const sized = this.deployments;
    gauge(
      "llm_deployment_replicas_wanted",
      "Number of replicas that the SLA of a ModelDeployment requires.",
      sized,
      "wanted",
    );
    gauge("llm_deployment_replicas_ready", "Number of ready replicas of a ModelDeployment.", sized, "ready");
    gauge("llm_deployment_requests_per_second", "Requests per second to a ModelDeployment.", sized, "load");
    gauge("llm_deployment_latency_seconds", "The measured latency of the SLA's percentile.", sized, "latency");
    const percentile = "The percentile of the SLA of the";
    gauge(
      "llm_deployment_time_to_first_token_seconds",
      `${percentile} time to first token.`,
      sized,
      "timeToFirstToken",
    );
    gauge(
      "llm_deployment_inter_token_latency_seconds",
      `${percentile} time between tokens.`,
      sized,
      "interTokenLatency",
    );
    gauge("llm_deployment_queue_time_seconds", `${percentile} time in queues.`, sized, "queueTime");
    gauge("llm_deployment_sla_met", "1 if all measured objectives of the SLA are met, 0 if not.", sized, "withinSla");
    gauge("llm_deployment_cost_per_hour", "Cost of its replicas per hour, if a price is set.", sized, "cost");
    const weight = "The percentage of requests that a canary gets, while one runs.";
    gauge("llm_deployment_canary_weight", weight, sized, "canaryWeight");
    const rolledBack = "With rollout.canary: 1 while the revision in the spec is rolled back, 0 if not.";
    gauge("llm_deployment_canary_rolled_back", rolledBack, sized, "canaryRolledBack");
    this.decisions = new Counter({
      name: "llm_scaling_decisions_total",
      help: "Changes of size of a ModelDeployment, by reason.",
      labelNames: ["namespace", "name", "reason"],
      registers,
    });
  }
}
