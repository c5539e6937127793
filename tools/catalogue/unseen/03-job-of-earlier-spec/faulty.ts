import { Job } from "@konverge/kinds";
import { reconciler } from "../../lib/reconciler.ts";
import { setStatus, tolerant } from "../../lib/steps.ts";
import { hasCompleted, migrated, migration } from "./scenario.ts";

// A Job that exists is taken for that of the present spec: the second migration never runs (gke-labs/kube-agents#1347).
export const scenario = migrated(
  reconciler({
    watches: [Job],
    create: () => async (name, app, context) => {
      if (!app) return;
      const phase = `migrated to ${app.spec.version}`;
      if (app.status?.phase === phase) return;
      const own = `${name}-migrate`;
      const found = context.cached(Job).get(own);
      if (!found) await tolerant(context.client.create(Job, migration(app, own)));
      else if (hasCompleted(found)) await setStatus(context, app, { phase });
    },
  }),
);
