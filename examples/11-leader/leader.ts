// Run two replicas, of which one is active: when it ends, the other acquires the lease.
import { controller, defineKind, z } from "konverge";

export const Ship = defineKind({
  group: "examples.konverge.dev",
  kind: "Ship",
  versions: {
    v1: { spec: z.object({ course: z.int() }), status: z.object({ captain: z.string().optional() }) },
  },
});

export const ships = (captain: string) => controller(Ship, { reconcile: () => ({ status: { captain } }) });
