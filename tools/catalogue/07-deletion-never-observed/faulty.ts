import { PersistentVolumeClaim } from "@konverge/kinds";
import { reconciler } from "../lib/reconciler.ts";
import { claim, setStatus, tolerant } from "../lib/steps.ts";
import { deletion } from "./scenario.ts";

// The volume is deleted when the deletion of its App is observed, and nothing guarantees that it is (instaclustr/cassandra-operator#398).
export const scenario = deletion(
  reconciler({
    watches: [PersistentVolumeClaim],
    create: () => async (name, app, context) => {
      if (!app) return;
      const { client, cached, namespace } = context;
      if (app.metadata.deletionTimestamp) {
        await tolerant(client.delete(PersistentVolumeClaim, `${namespace}/data-${name}`));
        return;
      }
      if (!cached(PersistentVolumeClaim).get(`data-${name}`)) {
        await tolerant(client.create(PersistentVolumeClaim, claim(app, `data-${name}`)));
      }
      await setStatus(context, app, { phase: "Ready" });
    },
  }),
);
