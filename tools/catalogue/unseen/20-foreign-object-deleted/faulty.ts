import { ConfigMap } from "@konverge/kinds";
import { reconciler } from "../../lib/reconciler.ts";
import { configMap, ownedBy, setStatus, tolerant } from "../../lib/steps.ts";
import { PAGES, withOwnPage } from "./scenario.ts";

// What the spec does not ask for is deleted by its name, also if its user made it (VictoriaMetrics/operator#758).
export const scenario = withOwnPage(
  reconciler({
    permissions: [PAGES],
    create: () => async (name, app, context) => {
      if (!app) return;
      const { client, namespace } = context;
      if (app.spec.image) await tolerant(client.create(ConfigMap, configMap(app, `${name}-page`, {}, ownedBy(app))));
      else await tolerant(client.delete(ConfigMap, `${namespace}/${name}-page`));
      await setStatus(context, app, { phase: `${app.spec.size} ready` });
    },
  }),
);
