import { ConfigMap } from "@konverge/kinds";
import { reconciler } from "../../lib/reconciler.ts";
import { setStatus } from "../../lib/steps.ts";
import { isUpdated, resized } from "./scenario.ts";

/** The generation is recorded whenever there is nothing left to do for it. */
export const scenario = resized(
  reconciler({
    watches: [ConfigMap],
    create: () => async (_name, app, context) => {
      if (!app) return;
      if (await isUpdated(context, app)) {
        await setStatus(context, app, { phase: "Updating" });
        return 1_000;
      }
      await setStatus(context, app, { phase: "Ready", observedGeneration: app.metadata.generation ?? 0 });
    },
  }),
);
