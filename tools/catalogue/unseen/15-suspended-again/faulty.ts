import { Pod } from "@konverge/kinds";
import { App } from "../../lib/app.ts";
import { live } from "../../lib/members.ts";
import { reconciler } from "../../lib/reconciler.ts";
import { run, suspend, suspendedTwice } from "./scenario.ts";

// What is Suspended already is ignored, also when pods were created since: the phase changes when they are ready (ray-project/kuberay#1741).
export const scenario = suspendedTwice(
  reconciler({
    watches: [Pod],
    create: () => async (name, cached, context) => {
      const app = cached && (await live(context, App, name));
      if (!app) return;
      if (!app.spec.suspended) return run(context, app);
      if (app.status?.phase !== "Suspended") return suspend(context, app);
    },
  }),
);
