import { Job } from "@konverge/kinds";
import { hasCondition } from "../../lib/members.ts";
import { reconciler } from "../../lib/reconciler.ts";
import { backedUp, backUp } from "./scenario.ts";

/** A run that completed counts, whatever the earlier ones did. */
export const scenario = backedUp(
  reconciler({
    watches: [Job],
    create: () => async (_name, app, context) => {
      if (!app) return;
      return backUp(context, app, (runs) => {
        if (runs.some((run) => hasCondition(run, "Complete"))) return "Complete";
        return runs.some((run) => hasCondition(run, "Failed")) ? "Failed" : undefined;
      });
    },
  }),
);
