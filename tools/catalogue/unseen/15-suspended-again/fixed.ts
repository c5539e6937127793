import { Pod } from "@konverge/kinds";
import { App } from "../../lib/app.ts";
import { live } from "../../lib/members.ts";
import { reconciler } from "../../lib/reconciler.ts";
import { run, suspend, suspendedTwice } from "./scenario.ts";

/** What is suspended has no pods, whatever its status says. */
export const scenario = suspendedTwice(
  reconciler({
    watches: [Pod],
    create: () => async (name, cached, context) => {
      const app = cached && (await live(context, App, name));
      if (!app) return;
      return app.spec.suspended ? suspend(context, app) : run(context, app);
    },
  }),
);
