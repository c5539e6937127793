import { isNotFound } from "@konverge/core";
import { App } from "../lib/app.ts";
import { reconciler } from "../lib/reconciler.ts";
import { setStatus } from "../lib/steps.ts";
import { database } from "./scenario.ts";

// A crash between the creation and the record of its id leaves a database that nothing knows (crossplane#3037).
export const scenario = database((cloud) =>
  reconciler({
    create: () => async (name, cached, context) => {
      if (!cached) return;
      const app = await context.client.get(App, `${context.namespace}/${name}`).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
      if (!app || app.status?.id) return;
      await setStatus(context, app, { id: cloud.create(), phase: "Ready" });
    },
  }),
);
