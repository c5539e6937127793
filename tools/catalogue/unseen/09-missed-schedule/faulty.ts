import { Job } from "@konverge/kinds";
import { deleteExactly, hasCondition, ownedJob } from "../../lib/members.ts";
import { reconciler } from "../../lib/reconciler.ts";
import { setStatus, tolerant } from "../../lib/steps.ts";
import { backedUp, dueAt } from "./scenario.ts";

// The schedule is kept by the process: what was due while none ran is never done (percona/percona-server-mongodb-operator#2526).
export const scenario = backedUp(
  reconciler({
    watches: [Job],
    create: () => {
      const scheduled = new Set<string>();
      return async (name, app, context) => {
        if (!app || app.status?.phase === "BackedUp") return;
        const { client, clock, cached } = context;
        const backup = cached(Job).get(`${name}-backup`);
        if (backup && hasCondition(backup, "Complete")) await setStatus(context, app, { phase: "BackedUp" });
        else if (backup && hasCondition(backup, "Failed")) await deleteExactly(context, Job, backup);
        if (backup) return;
        const after = dueAt(app) - clock.now();
        if (after > 0) {
          scheduled.add(name);
          await setStatus(context, app, { phase: "Scheduled" });
          return after;
        }
        if (scheduled.has(name)) await tolerant(client.create(Job, ownedJob(app, { name: `${name}-backup` })));
      };
    },
  }),
);
