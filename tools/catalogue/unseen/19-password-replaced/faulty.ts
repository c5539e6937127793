import { Secret } from "@konverge/kinds";
import { reconciler } from "../../lib/reconciler.ts";
import { setStatus } from "../../lib/steps.ts";
import { database, loggedIn, password } from "./scenario.ts";

// A Secret that was lost is recreated, and the database keeps the password of its first start (eclipse-che/che#14630).
export const scenario = loggedIn(
  reconciler({
    watches: [Secret],
    create: () => async (_name, app, context) => {
      if (!app) return;
      await database.start(await password(context, app));
      await setStatus(context, app, { phase: "Ready" });
    },
  }),
);
