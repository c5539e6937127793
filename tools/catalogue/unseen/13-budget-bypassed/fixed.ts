import { Pod, PodDisruptionBudget } from "@konverge/kinds";
import { isReady } from "../../lib/members.ts";
import { reconciler } from "../../lib/reconciler.ts";
import { upgrade, upgraded } from "./scenario.ts";

/** A member is replaced while all are ready. */
export const scenario = upgraded(
  reconciler({
    watches: [Pod, PodDisruptionBudget],
    create: () => async (_name, app, context) => {
      if (!app) return;
      return upgrade(context, app, (pods) => pods.every(isReady));
    },
  }),
);
