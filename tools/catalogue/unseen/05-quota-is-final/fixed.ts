import { isAlreadyExists, isForbidden } from "@konverge/core";
import { ConfigMap } from "@konverge/kinds";
import { reconciler } from "../../lib/reconciler.ts";
import { configMap, ownedBy, setStatus } from "../../lib/steps.ts";
import { started } from "./scenario.ts";

/** A quota is asked again. */
export const scenario = started(
  reconciler({
    watches: [ConfigMap],
    create: () => async (name, app, context) => {
      if (!app) return;
      try {
        const isThere = context.cached(ConfigMap).get(name);
        if (!isThere) await context.client.create(ConfigMap, configMap(app, name, {}, ownedBy(app)));
        await setStatus(context, app, { phase: "Running" });
      } catch (error) {
        if (isAlreadyExists(error)) return 1_000;
        if (!isForbidden(error)) throw error;
        await setStatus(context, app, { phase: "Failed" });
        return 30_000;
      }
    },
  }),
);
