import { Pod } from "@konverge/kinds";
import { App } from "../../lib/app.ts";
import { live } from "../../lib/members.ts";
import { reconciler } from "../../lib/reconciler.ts";
import { setStatus } from "../../lib/steps.ts";
import { keep, pausedAndResumed } from "./scenario.ts";

// A pod that is killed when its grace period ends fails, and with it the App that has deleted it (opensandbox-group/OpenSandbox#1828).
export const scenario = pausedAndResumed(
  reconciler({
    watches: [Pod],
    create: () => async (name, cached, context) => {
      const app = cached && (await live(context, App, name));
      if (!app || app.status?.phase === "Failed") return;
      return keep(context, app, async () => {
        await setStatus(context, app, { phase: "Failed" });
        return true;
      });
    },
  }),
);
