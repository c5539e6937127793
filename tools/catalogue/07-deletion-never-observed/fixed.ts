import { PersistentVolumeClaim } from "@konverge/kinds";
import { reconciler } from "../lib/reconciler.ts";
import { claim, ownedBy, setStatus, tolerant } from "../lib/steps.ts";
import { deletion } from "./scenario.ts";

/** The volume has an owner: the garbage collector deletes it, whatever the operator has observed. */
export const scenario = deletion(
  reconciler({
    watches: [PersistentVolumeClaim],
    create: () => async (name, app, context) => {
      if (!app) return;
      const { client, cached } = context;
      if (app.metadata.deletionTimestamp) return;
      if (!cached(PersistentVolumeClaim).get(`data-${name}`)) {
        await tolerant(client.create(PersistentVolumeClaim, claim(app, `data-${name}`, ownedBy(app))));
      }
      await setStatus(context, app, { phase: "Ready" });
    },
  }),
);
