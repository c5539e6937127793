import { isAlreadyExists } from "@konverge/core";
import { Pod } from "@konverge/kinds";
import { reconciler } from "../lib/reconciler.ts";
import { ownedBy, setStatus } from "../lib/steps.ts";
import { restart } from "./scenario.ts";

/** A pod of another owner has to go first; whether the pod is there is checked whenever it changes. */
export const scenario = restart(
  reconciler({
    watches: [Pod],
    create: () => async (name, app, context) => {
      if (!app) return;
      const { client, namespace } = context;
      const pod = {
        metadata: { name, namespace, labels: { app: name }, ...ownedBy(app) },
        spec: { containers: [{ name: "web", image: app.spec.image ?? "" }] },
      } as unknown as Pod;
      try {
        await client.create(Pod, pod);
      } catch (error) {
        if (!isAlreadyExists(error)) throw error;
        const found = await client.get(Pod, `${namespace}/${name}`);
        if (found.metadata.deletionTimestamp || found.metadata.ownerReferences?.[0]?.uid !== app.metadata.uid)
          return 2_000;
      }
      await setStatus(context, app, { phase: "Ready" });
    },
  }),
);
