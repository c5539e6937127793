import { App } from "../../lib/app.ts";
import { reconciler } from "../../lib/reconciler.ts";
import { setStatus } from "../../lib/steps.ts";
import { resized } from "./scenario.ts";

/** Only the mark is written. */
export const scenario = resized(
  reconciler({
    create: () => async (name, app, context) => {
      if (!app) return;
      if (!app.metadata.annotations?.["example.com/managed"]) {
        const metadata = { annotations: { "example.com/managed": "yes" } };
        await context.client.patch(App, `${context.namespace}/${name}`, { merge: { metadata } });
      }
      await setStatus(context, app, { phase: `${app.spec.size} ready` });
    },
  }),
);
