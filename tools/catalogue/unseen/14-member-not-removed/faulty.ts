import { ConfigMap, Pod } from "@konverge/kinds";
import { isReady } from "../../lib/members.ts";
import { reconciler } from "../../lib/reconciler.ts";
import { scale, shrunk } from "./scenario.ts";

// Only a pod that is ready leaves the replica set: one that is not is deleted and stays a member (apecloud/kubeblocks#7558).
export const scenario = shrunk(
  reconciler({
    watches: [Pod, ConfigMap],
    create: () => async (_name, app, context) => {
      if (!app) return;
      return scale(context, app, isReady);
    },
  }),
);
