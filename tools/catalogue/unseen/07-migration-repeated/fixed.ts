import { Job } from "@konverge/kinds";
import { reconciler } from "../../lib/reconciler.ts";
import { setStatus, tolerant } from "../../lib/steps.ts";
import { hasCompleted, migratedOnce, migration } from "./scenario.ts";

/** The status has the version that the App was migrated to: what becomes of the Job does not matter. */
export const scenario = migratedOnce(
  reconciler({
    watches: [Job],
    create: () => async (name, app, context) => {
      if (!app) return;
      const { size, version } = app.spec;
      if (app.status?.version === version) {
        await setStatus(context, app, { phase: `size ${size}` });
        return;
      }
      const found = context.cached(Job).get(name);
      if (!found) await tolerant(context.client.create(Job, migration(app, name)));
      else if (hasCompleted(found)) await setStatus(context, app, { phase: `size ${size}`, version });
    },
  }),
);
