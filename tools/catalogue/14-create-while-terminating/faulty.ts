import { isAlreadyExists } from "@konverge/core";
import { Pod } from "@konverge/kinds";
import { reconciler } from "../lib/reconciler.ts";
import { ownedBy, setStatus } from "../lib/steps.ts";
import { restart } from "./scenario.ts";

// A pod that exists is taken for the one that is wanted, also if it is about to go (ClickHouse/clickhouse-operator#1995).
export const scenario = restart(
  reconciler({
    watches: [Pod],
    create: () => async (name, app, context) => {
      if (!app || app.status?.phase === "Ready") return;
      const { client, namespace } = context;
      const pod = {
        metadata: { name, namespace, labels: { app: name }, ...ownedBy(app) },
        spec: { containers: [{ name: "web", image: app.spec.image ?? "" }] },
      } as unknown as Pod;
      try {
        await client.create(Pod, pod);
      } catch (error) {
        if (!isAlreadyExists(error)) throw error;
      }
      await setStatus(context, app, { phase: "Ready" });
    },
  }),
);
