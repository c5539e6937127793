import { reconciler } from "../lib/reconciler.ts";
import { ownedBy, setStatus, tolerant } from "../lib/steps.ts";
import { Pool, scaled } from "./scenario.ts";

/** The size is the first one: afterwards replicas belong to the autoscaler. */
export const scenario = scaled(
  reconciler({
    watches: [Pool],
    create: () => async (name, app, context) => {
      if (!app) return;
      const { client, cached, namespace } = context;
      const { size } = app.spec;
      const found = cached(Pool).get(name);
      if (!found) {
        const metadata = { name, namespace, labels: { app: name }, ...ownedBy(app) };
        await tolerant(client.create(Pool, { metadata, spec: { replicas: size } }));
      }
      await setStatus(context, app, { phase: "Ready" });
    },
  }),
);
