import { App } from "../../lib/app.ts";
import { reconciler } from "../../lib/reconciler.ts";
import { setStatus } from "../../lib/steps.ts";
import { resized } from "./scenario.ts";

// A mark is written with the whole object as the cache has it: a change of the spec in between is lost (hashicorp/consul-k8s#3362).
export const scenario = resized(
  reconciler({
    create: () => async (name, app, context) => {
      if (!app) return;
      if (!app.metadata.annotations?.["example.com/managed"]) {
        const metadata = { annotations: { "example.com/managed": "yes" } };
        await context.client.patch(App, `${context.namespace}/${name}`, { merge: { metadata, spec: app.spec } });
      }
      await setStatus(context, app, { phase: `${app.spec.size} ready` });
    },
  }),
);
