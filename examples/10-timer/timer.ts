// Do something again and again: ask to be called after a while.
import { controller, defineKind } from "konverge";
import { z } from "zod";

export const Alarm = defineKind({
  group: "examples.konverge.dev",
  kind: "Alarm",
  versions: {
    v1: {
      spec: z.object({ everyMs: z.int().min(1) }),
      status: z.object({ rings: z.int().optional(), lastRing: z.string().optional() }),
    },
  },
});

export const alarms = controller(Alarm, {
  reconcile({ spec, status }, { clock }) {
    // Level-triggered: how often it has rung follows from what is stored, not from how often we are called.
    const last = status?.lastRing === undefined ? Number.NEGATIVE_INFINITY : Date.parse(status.lastRing);
    const due = last + spec.everyMs - clock.now();
    if (due > 0) return { after: due };
    const lastRing = new Date(clock.now()).toISOString();
    return { status: { rings: (status?.rings ?? 0) + 1, lastRing }, after: spec.everyMs };
  },
});
