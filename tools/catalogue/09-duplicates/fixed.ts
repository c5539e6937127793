import { ConfigMap } from "@konverge/kinds";
import { reconciler } from "../lib/reconciler.ts";
import { configMap, ownedBy, setStatus, tolerant } from "../lib/steps.ts";
import { members } from "./scenario.ts";

/** Each member has a fixed name: a second creation of the same member fails, and that is fine. */
export const scenario = members(
  reconciler({
    watches: [ConfigMap],
    create: () => async (name, app, context) => {
      if (!app) return;
      const { client, cached } = context;
      const { size } = app.spec;
      const found = new Set(
        cached(ConfigMap)
          .list(name)
          .map(({ metadata }) => metadata.name),
      );
      const missing = Array.from({ length: size }, (_, i) => `${name}-${i}`).find((member) => !found.has(member));
      if (missing) {
        await tolerant(client.create(ConfigMap, configMap(app, missing, {}, ownedBy(app))));
        return 1_000;
      }
      await setStatus(context, app, { phase: `${size} of ${size}` });
    },
  }),
);
