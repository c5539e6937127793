import { ConfigMap, PersistentVolumeClaim } from "@konverge/kinds";
import { live } from "../../lib/members.ts";
import { reconciler } from "../../lib/reconciler.ts";
import { CLASSES, provide, withClasses } from "./scenario.ts";

// What cannot be read counts as what is not there, and its volume is deleted (red-hat-storage/ocs-operator#4056).
export const scenario = withClasses(
  reconciler({
    watches: [PersistentVolumeClaim],
    permissions: [CLASSES],
    create: () => async (_name, app, context) => {
      if (!app) return;
      await provide(context, app, async (name) => {
        const found = await live(context, ConfigMap, name).catch(() => undefined);
        return found !== undefined;
      });
      return app.status?.phase === `${app.spec.size} ready` ? undefined : 10_000;
    },
  }),
);
