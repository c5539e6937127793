// Tell how the operator itself is doing: metrics, probes and a line per reconcile.
import { type Clock, controller, defineKind, endpoints, type Manager, Metrics } from "konverge";
import { z } from "zod";

export const Plant = defineKind({
  group: "examples.konverge.dev",
  kind: "Plant",
  versions: { v1: { spec: z.object({ water: z.int() }), status: z.object({ height: z.int().optional() }) } },
});

export const plants = controller(Plant, { reconcile: ({ spec }) => ({ status: { height: spec.water * 2 } }) });

/** In a program of its own: `serve(probes(…), { port: 8080 })`. */
export const probes = (manager: Manager, metrics: Metrics) => endpoints({ manager, metrics });

export const plantMetrics = (clock: Clock) => new Metrics({ clock, process: false });
