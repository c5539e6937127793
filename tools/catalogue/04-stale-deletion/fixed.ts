import { isNotFound } from "@konverge/core";
import { PersistentVolumeClaim } from "@konverge/kinds";
import { App } from "../lib/app.ts";
import { reconciler } from "../lib/reconciler.ts";
import { claim, setStatus, tolerant } from "../lib/steps.ts";
import { recreation } from "./scenario.ts";

const FINALIZER = "example.com/volumes";

/** Before data is deleted, the App is read from the API server, not from the cache. */
export const scenario = recreation(
  reconciler({
    watches: [PersistentVolumeClaim],
    create: () => async (name, app, context) => {
      if (!app) return;
      const { client, cached, namespace } = context;
      const key = `${namespace}/${name}`;
      const isSame = { op: "test", path: "/metadata/uid", value: app.metadata.uid } as const;
      if (app.metadata.deletionTimestamp) {
        const live = await client.get(App, key).catch(ignoreNotFound);
        if (live?.metadata.uid !== app.metadata.uid) return;
        const volumeKey = `${namespace}/data-${name}`;
        const data = await client.get(PersistentVolumeClaim, volumeKey).catch(ignoreNotFound);
        // Should this request arrive late, it must not delete the volume of the next App.
        const preconditions = { uid: data?.metadata.uid ?? "" };
        if (data) await tolerant(client.delete(PersistentVolumeClaim, volumeKey, { preconditions }));
        const release = [isSame, { op: "remove", path: "/metadata/finalizers" } as const];
        await tolerant(client.patch(App, key, { json: release }));
        return;
      }
      if (!app.metadata.finalizers) {
        const hold = [isSame, { op: "add", path: "/metadata/finalizers", value: [FINALIZER] } as const];
        await client.patch(App, key, { json: hold });
        return;
      }
      const volume = cached(PersistentVolumeClaim).get(`data-${name}`);
      // The volume of an App that was deleted goes first.
      if (volume?.metadata.deletionTimestamp) return;
      if (!volume) await client.create(PersistentVolumeClaim, claim(app, `data-${name}`));
      await setStatus(context, app, { phase: "Ready" });
    },
  }),
);

function ignoreNotFound(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}
