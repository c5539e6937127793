import { isAlreadyExists } from "@konverge/core";
import { ConfigMap } from "@konverge/kinds";
import { reconciler } from "../lib/reconciler.ts";
import { configMap, ownedBy, setStatus } from "../lib/steps.ts";
import { FLUSH, restart } from "./scenario.ts";

// An object that exists is taken for the one that is wanted, also if it is about to go (ClickHouse/clickhouse-operator#1995).
export const scenario = restart(
  reconciler({
    watches: [ConfigMap],
    create: () => async (name, app, context) => {
      if (!app || app.status?.phase === "Ready") return;
      try {
        await context.client.create(ConfigMap, configMap(app, name, {}, { ...ownedBy(app), finalizers: [FLUSH] }));
      } catch (error) {
        if (!isAlreadyExists(error)) throw error;
      }
      await setStatus(context, app, { phase: "Ready" });
    },
  }),
);
