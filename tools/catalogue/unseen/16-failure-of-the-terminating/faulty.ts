import { Pod } from "@konverge/kinds";
import { App } from "../../lib/app.ts";
import { deleteExactly, live } from "../../lib/members.ts";
import { reconciler } from "../../lib/reconciler.ts";
import { setStatus } from "../../lib/steps.ts";
import { keep, pausedAndResumed } from "./scenario.ts";

// A failed pod is replaced once, and one that fails while it is deleted counts as replaced in vain (opensandbox-group/OpenSandbox#1828).
export const scenario = pausedAndResumed(
  reconciler({
    watches: [Pod],
    create: () => async (name, cached, context) => {
      const app = cached && (await live(context, App, name));
      if (!app || app.status?.phase === "Failed") return;
      return keep(context, app, async (pod) => {
        if (pod.metadata.deletionTimestamp) await setStatus(context, app, { phase: "Failed" });
        else await deleteExactly(context, Pod, pod);
        return pod.metadata.deletionTimestamp !== undefined;
      });
    },
  }),
);
