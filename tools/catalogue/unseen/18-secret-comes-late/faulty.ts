import { Secret } from "@konverge/kinds";
import { reconciler } from "../../lib/reconciler.ts";
import { report, withCredentials } from "./scenario.ts";

// A condition that was False once stays so: only a missing Secret sets it, a Secret that is there does not (Kong/kong-operator#4870).
export const scenario = withCredentials(
  reconciler({
    watches: [Secret],
    create: () => async (name, app, context) => {
      if (!app) return;
      const secret = context.cached(Secret).get(`${name}-credentials`);
      const isNew = app.status?.conditions === undefined;
      if (!secret) await report(context, app, false);
      else await report(context, app, isNew ? true : undefined);
      return secret ? undefined : 10_000;
    },
  }),
);
