import { Pod } from "@konverge/kinds";
import { App } from "../../lib/app.ts";
import { deleteExactly, live } from "../../lib/members.ts";
import { reconciler } from "../../lib/reconciler.ts";
import { keep, pausedAndResumed } from "./scenario.ts";

/** How a pod ends that is being deleted does not matter, and one that failed is replaced. */
export const scenario = pausedAndResumed(
  reconciler({
    watches: [Pod],
    create: () => async (name, cached, context) => {
      const app = cached && (await live(context, App, name));
      if (!app) return;
      return keep(context, app, async (pod) => {
        if (!pod.metadata.deletionTimestamp) await deleteExactly(context, Pod, pod);
        return false;
      });
    },
  }),
);
