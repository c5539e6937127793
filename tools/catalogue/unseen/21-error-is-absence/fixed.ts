import { ConfigMap, PersistentVolumeClaim } from "@konverge/kinds";
import { live } from "../../lib/members.ts";
import { reconciler } from "../../lib/reconciler.ts";
import { CLASSES, provide, withClasses } from "./scenario.ts";

/** An error is an error: nothing is done until all classes are read. */
export const scenario = withClasses(
  reconciler({
    watches: [PersistentVolumeClaim],
    permissions: [CLASSES],
    create: () => async (_name, app, context) => {
      if (!app) return;
      await provide(context, app, async (name) => {
        const found = await live(context, ConfigMap, name);
        return found !== undefined;
      });
      return app.status?.phase === `${app.spec.size} ready` ? undefined : 10_000;
    },
  }),
);
