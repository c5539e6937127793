import { isNotFound } from "@konverge/core";
import { ConfigMap } from "@konverge/kinds";
import { reconciler } from "../lib/reconciler.ts";
import { applyMap, configMap, ownedBy, setStatus } from "../lib/steps.ts";
import { operations } from "./scenario.ts";

/** If the phase says that an operation is in progress, it is continued, no matter which process began it. */
export const scenario = operations(
  reconciler({
    watches: [ConfigMap],
    create: () => {
      return async (name, app, context) => {
        if (!app) return;
        const { version } = app.spec;
        const phase = `Ready ${version}`;
        const { client, namespace } = context;
        const child = await client.get(ConfigMap, `${namespace}/${name}`).catch((error: unknown) => {
          if (!isNotFound(error)) throw error;
        });
        const isDone = child?.data?.["version"] === version;
        if (app.status?.phase === phase && isDone) return;
        await setStatus(context, app, { phase: "Busy" });
        await applyMap(context, configMap(app, name, { version }, ownedBy(app)));
        // The status in the cache is older than the phase that was written above.
        await setStatus(context, { ...app, status: {} }, { phase });
      };
    },
  }),
);
