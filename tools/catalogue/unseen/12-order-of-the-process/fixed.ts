import { Deployment } from "@konverge/kinds";
import { reconciler } from "../../lib/reconciler.ts";
import { run, running, SETTINGS } from "./scenario.ts";

/** The settings are sorted by their names. */
export const scenario = running(
  reconciler({
    watches: [Deployment],
    create: () => async (_name, app, context) => {
      if (!app) return;
      const settings = Object.entries(SETTINGS).sort(([a], [b]) => (a < b ? -1 : 1));
      await run(context, app, settings);
    },
  }),
);
