import { Job } from "@konverge/kinds";
import { reconciler } from "../../lib/reconciler.ts";
import { setStatus, tolerant } from "../../lib/steps.ts";
import { isTrue, setUp, setup } from "./scenario.ts";

/** A Job that has failed is replaced. */
export const scenario = setUp(
  reconciler({
    watches: [Job],
    create: () => async (name, app, context) => {
      if (!app || app.status?.phase === "Ready") return;
      const found = context.cached(Job).get(name);
      if (!found) await tolerant(context.client.create(Job, setup(app)));
      else if (isTrue(found, "Complete")) await setStatus(context, app, { phase: "Ready" });
      else if (isTrue(found, "Failed")) {
        const preconditions = { uid: found.metadata.uid ?? "" };
        await tolerant(
          context.client.delete(Job, `${context.namespace}/${name}`, {
            preconditions,
            propagationPolicy: "Background",
          }),
        );
      }
    },
  }),
);
