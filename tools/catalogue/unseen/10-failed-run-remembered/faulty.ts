import { Job } from "@konverge/kinds";
import { hasCondition } from "../../lib/members.ts";
import { reconciler } from "../../lib/reconciler.ts";
import { backedUp, backUp } from "./scenario.ts";

// The status is that of the first run that failed, whatever the later ones did (mariadb-operator/mariadb-operator#1887).
export const scenario = backedUp(
  reconciler({
    watches: [Job],
    create: () => async (_name, app, context) => {
      if (!app) return;
      return backUp(context, app, (runs) => {
        if (runs.some((run) => hasCondition(run, "Failed"))) return "Failed";
        return runs.some((run) => hasCondition(run, "Complete")) ? "Complete" : undefined;
      });
    },
  }),
);
