import { Deployment } from "@konverge/kinds";
import { reconciler } from "../lib/reconciler.ts";
import { ownedBy, setStatus, tolerant } from "../lib/steps.ts";
import { scaled } from "./scenario.ts";

/** The size is the first one: afterwards replicas belong to the autoscaler. */
export const scenario = scaled(
  reconciler({
    watches: [Deployment],
    create: () => async (name, app, context) => {
      if (!app) return;
      const { client, cached, namespace } = context;
      const { size, image = "" } = app.spec;
      const labels = { app: name };
      const found = cached(Deployment).get(name);
      const spec = {
        replicas: size,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: "web", image }] } },
      };
      if (!found) {
        const metadata = { name, namespace, labels, ...ownedBy(app) };
        await tolerant(client.create(Deployment, { metadata, spec } as unknown as Deployment));
      }
      await setStatus(context, app, { phase: "Ready" });
    },
  }),
);
