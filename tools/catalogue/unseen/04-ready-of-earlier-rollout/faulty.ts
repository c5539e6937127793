import { Deployment } from "@konverge/kinds";
import { reconciler } from "../../lib/reconciler.ts";
import { deployment, hasReplicas, report, rolledOut } from "./scenario.ts";

// The replicas of the earlier rollout are ready, so the App is (openstack-k8s-operators/neutron-operator#335).
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
      await report(context, app, hasReplicas(found));
    },
  }),
);
