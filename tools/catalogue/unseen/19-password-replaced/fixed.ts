import { Secret } from "@konverge/kinds";
import { reconciler } from "../../lib/reconciler.ts";
import { setStatus } from "../../lib/steps.ts";
import { database, loggedIn, password } from "./scenario.ts";

/** The database gets the password of the Secret whenever they differ. */
export const scenario = loggedIn(
  reconciler({
    watches: [Secret],
    create: () => async (_name, app, context) => {
      if (!app) return;
      const current = await password(context, app);
      await database.start(current);
      if (!database.accepts(current)) await database.changePassword(current);
      await setStatus(context, app, { phase: "Ready" });
    },
  }),
);
