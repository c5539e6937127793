import { Job } from "@konverge/kinds";
import { reconciler } from "../../lib/reconciler.ts";
import { setStatus, tolerant } from "../../lib/steps.ts";
import { hasCompleted, migratedOnce, migration } from "./scenario.ts";

// The migration has run if its Job is there: once that is cleaned up, it runs again (quay/quay-operator#1191).
export const scenario = migratedOnce(
  reconciler({
    watches: [Job],
    create: () => async (name, app, context) => {
      if (!app) return;
      const { size, version } = app.spec;
      const found = context.cached(Job).get(name);
      if (!found) await tolerant(context.client.create(Job, migration(app, name)));
      else if (hasCompleted(found)) await setStatus(context, app, { phase: `size ${size}`, version });
    },
  }),
);
