import { Pod, PodDisruptionBudget } from "@konverge/kinds";
import { reconciler } from "../../lib/reconciler.ts";
import { upgrade, upgraded } from "./scenario.ts";

// The next member is deleted as soon as the last one runs, ready or not, and the budget is not asked (adobe/koperator#310).
export const scenario = upgraded(
  reconciler({
    watches: [Pod, PodDisruptionBudget],
    create: () => async (_name, app, context) => {
      if (!app) return;
      return upgrade(context, app, (pods) =>
        pods.every(({ metadata, status }) => status?.phase === "Running" && !metadata.deletionTimestamp),
      );
    },
  }),
);
