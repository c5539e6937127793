import { findCondition } from "konverge";
import type { LoadMeasurement } from "konverge/sizing";
import { Gauge, type Registry } from "prom-client";
import type { DynamoGraphDeployment } from "./graph-deployment.ts";

/** A value, and the service that it is about; none if it is about the graph. */
type Sample = readonly [value: number | undefined, service?: string];

/**
 * What this operator exports about graphs, besides what every controller exports. It follows from the graphs as the cache has them
 * at each scrape, and from the load that was measured last.
 */
export class GraphMetrics {
  graphs: () => readonly DynamoGraphDeployment[] = () => [];
  /** By the UID of the graph. */
  readonly #measured = new Map<string, LoadMeasurement>();

  constructor(registry: Registry) {
    const metrics = this;
    const gauge = (
      name: string,
      help: string,
      samples: (graph: DynamoGraphDeployment) => readonly Sample[],
      ...labels: "service"[]
    ) =>
      new Gauge({
        name,
        help,
        labelNames: ["namespace", "name", ...labels],
        registers: [registry],
        collect() {
          this.reset();
          const graphs = metrics.graphs();
          metrics.#forgetOthers(graphs);
          for (const graph of graphs) {
            const { namespace = "", name: of } = graph.metadata;
            for (const [value, service] of samples(graph)) {
              if (value !== undefined) this.set({ namespace, name: of, ...(service && { service }) }, value);
            }
          }
        },
      });
    const ofServices = (value: (service: ServiceStatus) => number) => (graph: DynamoGraphDeployment) =>
      Object.entries(graph.status?.services ?? {}).map(([name, one]): Sample => [value(one), name]);
    gauge("dynamo_graph_ready", "1 if all services of a graph are ready, otherwise 0.", ({ status }) => [
      [Number(status?.state === "successful")],
    ]);
    gauge(
      "dynamo_service_ready",
      "1 if a service of a graph is ready, otherwise 0.",
      ofServices(({ ready }) => Number(ready)),
      "service",
    );
    gauge(
      "dynamo_service_replicas_ready",
      "Number of ready replicas of a service.",
      ofServices(({ readyReplicas }) => readyReplicas),
      "service",
    );
    gauge("dynamo_graph_workers_wanted", "Number of workers that the SLA of a graph requires.", ({ status }) => [
      [status?.sizing?.replicas],
    ]);
    gauge("dynamo_graph_sla_met", "1 if the SLA of a graph is met, 0 if not.", ({ status }) => {
      const is = findCondition(status?.conditions, "SLAMet")?.status;
      return [[is === "True" ? 1 : is === "False" ? 0 : undefined]];
    });
    const measured = (value: (load: LoadMeasurement) => number | undefined) => (graph: DynamoGraphDeployment) => {
      const load = this.#measured.get(graph.metadata.uid ?? "");
      return [[load && value(load)]] as const;
    };
    gauge(
      "dynamo_graph_requests_per_second",
      "Requests per second to the workers of a graph.",
      measured(({ load }) => load),
    );
    gauge(
      "dynamo_graph_latency_seconds",
      "The measured latency of 95% of the requests, in seconds.",
      measured(({ latency }) => latency),
    );
  }

  /** What was measured last of a graph; undefined: nothing is known. */
  measured({ metadata: { uid = "" } }: DynamoGraphDeployment, load: LoadMeasurement | undefined): void {
    if (load) this.#measured.set(uid, load);
    else this.#measured.delete(uid);
  }

  /** No event reports that a graph was deleted. */
  #forgetOthers(graphs: readonly DynamoGraphDeployment[]): void {
    const existing = new Set(graphs.map(({ metadata }) => metadata.uid));
    for (const uid of this.#measured.keys()) if (!existing.has(uid)) this.#measured.delete(uid);
  }
}

type ServiceStatus = NonNullable<NonNullable<DynamoGraphDeployment["status"]>["services"]>[string];
