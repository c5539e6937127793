import { App } from "../../lib/app.ts";
import { live } from "../../lib/members.ts";
import { reconciler } from "../../lib/reconciler.ts";
import { setStatus, tolerant } from "../../lib/steps.ts";
import { cloud, createdAndDeleted, FINALIZER, networksOf } from "./scenario.ts";

// The finalizer is persisted when all networks exist: an App that is deleted before leaves them (outscale/cluster-api-provider-outscale#917).
export const scenario = createdAndDeleted(
  reconciler({
    create: () => async (name, cached, context) => {
      const app = cached && (await live(context, App, name));
      if (!app) return;
      const { client, namespace } = context;
      const key = `${namespace}/${name}`;
      if (app.metadata.deletionTimestamp) {
        for (const id of networksOf(name)) await cloud.remove(id);
        await tolerant(client.patch(App, key, { json: [{ op: "remove", path: "/metadata/finalizers" }] }));
        return;
      }
      for (const id of networksOf(name)) await cloud.create(id);
      if (!app.metadata.finalizers) {
        await client.patch(App, key, { merge: { metadata: { finalizers: [FINALIZER] } } });
      }
      await setStatus(context, app, { phase: "Ready" });
    },
  }),
);
