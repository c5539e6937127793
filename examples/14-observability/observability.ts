// Report the state of the operator itself: metrics, probes and a line per reconcile.
import { controller, defineKind, type Manager, z } from "konverge";
import { httpEndpoints, Metrics } from "konverge/observability";
import type { Clock } from "konverge/time";

export const Plant = defineKind({
  group: "examples.konverge.dev",
  kind: "Plant",
  versions: { v1: { spec: z.object({ water: z.int() }), status: z.object({ height: z.int().optional() }) } },
});

export const plants = controller(Plant, { reconcile: ({ spec }) => ({ status: { height: spec.water * 2 } }) });

/** In a separate program: `serve(probes(…), { port: 8080 })`. */
export const probes = (manager: Manager, metrics: Metrics) => httpEndpoints({ manager, metrics });

export const plantMetrics = (clock: Clock) => new Metrics({ clock, process: false });
