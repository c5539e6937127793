import { isAlreadyExists } from "@konverge/core";
import { ConfigMap } from "@konverge/kinds";
import { reconciler } from "../lib/reconciler.ts";
import { configMap, ownedBy, setStatus } from "../lib/steps.ts";
import { FLUSH, restart } from "./scenario.ts";

/** An object of another owner, or one that is about to go, has to go first. */
export const scenario = restart(
  reconciler({
    watches: [ConfigMap],
    create: () => async (name, app, context) => {
      if (!app) return;
      const found = context.cached(ConfigMap).get(name);
      if (found && !found.metadata.deletionTimestamp && found.metadata.ownerReferences?.[0]?.uid === app.metadata.uid) {
        await setStatus(context, app, { phase: "Ready" });
        return;
      }
      try {
        await context.client.create(ConfigMap, configMap(app, name, {}, { ...ownedBy(app), finalizers: [FLUSH] }));
      } catch (error) {
        if (!isAlreadyExists(error)) throw error;
        const { metadata } = await context.client.get(ConfigMap, `${context.namespace}/${name}`);
        if (metadata.deletionTimestamp || metadata.ownerReferences?.[0]?.uid !== app.metadata.uid) return 2_000;
      }
      await setStatus(context, app, { phase: "Ready" });
    },
  }),
);
