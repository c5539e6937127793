// Report what happened where `kubectl describe` shows it.
import { controller, defineKind, z } from "konverge";

export const Parcel = defineKind({
  group: "examples.konverge.dev",
  kind: "Parcel",
  versions: {
    v1: { spec: z.object({ to: z.string() }), status: z.object({ sentTo: z.string().optional() }) },
  },
});

export const parcels = controller(Parcel, {
  reconcile({ spec, status }, { events }) {
    if (status?.sentTo !== undefined && status.sentTo !== spec.to) {
      events.warning("Redirected", `it was on its way to ${status.sentTo}`);
    } else if (status?.sentTo === undefined) events.normal("Sent", `it is on its way to ${spec.to}`);
    return { status: { sentTo: spec.to } };
  },
});
