import { isNotFound } from "@konverge/core";
import { ConfigMap } from "@konverge/kinds";
import { reconciler } from "../lib/reconciler.ts";
import { applyMap, configMap, ownedBy, setStatus } from "../lib/steps.ts";
import { operations } from "./scenario.ts";

// The operation in progress is known in memory only; the next process takes the phase for that of another one (casskop#370).
export const scenario = operations(
  reconciler({
    watches: [ConfigMap],
    create: () => {
      const inProgress = new Set<string>();
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
        // Another operation is in progress: it reports when it is done.
        if (app.status?.phase === "Busy" && !inProgress.has(name)) return;
        inProgress.add(name);
        await setStatus(context, app, { phase: "Busy" });
        await applyMap(context, configMap(app, name, { version }, ownedBy(app)));
        inProgress.delete(name);
        // The status in the cache is older than the phase that was written above.
        await setStatus(context, { ...app, status: {} }, { phase });
      };
    },
  }),
);
