import { ConfigMap } from "@konverge/kinds";
import { reconciler } from "../../lib/reconciler.ts";
import { setStatus } from "../../lib/steps.ts";
import { isUpdated, resized } from "./scenario.ts";

// The generation is recorded when the phase becomes Ready: an update that changes nothing never does that (k8ssandra/cass-operator#657).
export const scenario = resized(
  reconciler({
    watches: [ConfigMap],
    create: () => async (_name, app, context) => {
      if (!app) return;
      if (await isUpdated(context, app)) {
        await setStatus(context, app, { phase: "Updating" });
        return 1_000;
      }
      if (app.status?.phase === "Ready") return;
      await setStatus(context, app, { phase: "Ready", observedGeneration: app.metadata.generation ?? 0 });
    },
  }),
);
