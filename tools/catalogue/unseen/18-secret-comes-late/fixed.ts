import { Secret } from "@konverge/kinds";
import { reconciler } from "../../lib/reconciler.ts";
import { report, withCredentials } from "./scenario.ts";

/** The condition is that of the Secret as it is. */
export const scenario = withCredentials(
  reconciler({
    watches: [Secret],
    create: () => async (name, app, context) => {
      if (!app) return;
      const secret = context.cached(Secret).get(`${name}-credentials`);
      await report(context, app, secret !== undefined);
      return secret ? undefined : 10_000;
    },
  }),
);
