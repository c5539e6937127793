import { isConflict } from "@konverge/core";
import { ConfigMap } from "@konverge/kinds";
import { App } from "../lib/app.ts";
import { type Reconciliation, reconciler } from "../lib/reconciler.ts";
import { configMap, ownedBy, tolerant } from "../lib/steps.ts";
import { phases } from "./scenario.ts";

// A conflict means that another client has written: the code assumes that this triggers another reconcile (machine-controller-manager#838).
async function setPhase({ client }: Reconciliation, app: App, phase: string): Promise<void> {
  if (app.status?.phase === phase) return;
  try {
    await client.updateStatus(App, { ...app, status: { ...app.status, phase } });
  } catch (error) {
    if (!isConflict(error)) throw error;
  }
}

export const scenario = phases(
  reconciler({
    watches: [ConfigMap],
    create: () => async (name, app, context) => {
      if (!app) return;
      if (!context.cached(ConfigMap).get(name)) {
        if (!app.status?.phase) await setPhase(context, app, "Creating");
        await tolerant(context.client.create(ConfigMap, configMap(app, name, {}, ownedBy(app))));
        return;
      }
      await setPhase(context, app, "Ready");
    },
  }),
);
