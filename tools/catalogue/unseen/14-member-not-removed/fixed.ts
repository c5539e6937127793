import { ConfigMap, Pod } from "@konverge/kinds";
import { reconciler } from "../../lib/reconciler.ts";
import { scale, shrunk } from "./scenario.ts";

/** The others remove the member, whether its pod is ready or not. */
export const scenario = shrunk(
  reconciler({
    watches: [Pod, ConfigMap],
    create: () => async (_name, app, context) => {
      if (!app) return;
      return scale(context, app, () => true);
    },
  }),
);
