import { Job } from "@konverge/kinds";
import { reconciler } from "../../lib/reconciler.ts";
import { setStatus, tolerant } from "../../lib/steps.ts";
import { hasCompleted, migrated, migration } from "./scenario.ts";

/** The name of the Job has the version that it migrates to. */
export const scenario = migrated(
  reconciler({
    watches: [Job],
    create: () => async (name, app, context) => {
      if (!app) return;
      const phase = `migrated to ${app.spec.version}`;
      if (app.status?.phase === phase) return;
      const own = `${name}-migrate-${app.spec.version}`;
      const found = context.cached(Job).get(own);
      if (!found) await tolerant(context.client.create(Job, migration(app, own)));
      else if (hasCompleted(found)) await setStatus(context, app, { phase });
    },
  }),
);
