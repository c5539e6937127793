// Do something again and again: ask whether it is due.
import { controller, defineKind, z } from "konverge";

export const Alarm = defineKind({
  group: "examples.konverge.dev",
  kind: "Alarm",
  versions: {
    v1: {
      spec: z.object({ everySeconds: z.int().min(1) }),
      status: z.object({ rings: z.int().optional(), lastRing: z.string().optional() }),
    },
  },
});

export const alarms = controller(Alarm, {
  reconcile({ spec, status }, { isDue, clock }) {
    // When it last rang is kept in the status, so that the rhythm outlives the process. Without `last` it is remembered.
    if (!isDue("ring", { every: spec.everySeconds * 1000, last: status?.lastRing })) return {};
    return { status: { rings: (status?.rings ?? 0) + 1, lastRing: new Date(clock.now()).toISOString() } };
  },
});
