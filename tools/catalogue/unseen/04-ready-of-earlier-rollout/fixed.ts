import { Deployment } from "@konverge/kinds";
import { reconciler } from "../../lib/reconciler.ts";
import { deployment, hasReplicas, report, rolledOut } from "./scenario.ts";

/** The replicas count when they are those of the last generation. */
export const scenario = rolledOut(
  reconciler({
    watches: [Deployment],
    create: () => async (_name, app, context) => {
      if (!app) return;
      const draft = deployment(app) as Deployment;
      const found = await context.client.apply(Deployment, draft as never, {
        fieldManager: "app-operator",
        force: true,
      });
      await report(context, app, hasReplicas(found) && isComplete(found));
    },
  }),
);

function isComplete({ metadata, spec, status }: Deployment): boolean {
  const { observedGeneration = 0, updatedReplicas = 0, replicas = 0 } = status ?? {};
  return (
    observedGeneration >= (metadata.generation ?? 0) &&
    updatedReplicas === spec?.replicas &&
    replicas === spec?.replicas
  );
}
