import { ConfigMap } from "@konverge/kinds";
import { reconciler } from "../lib/reconciler.ts";
import { configMap, ownedBy, setStatus } from "../lib/steps.ts";
import { members } from "./scenario.ts";

// The cache does not show a member that was just created, so another one is (argo-rollouts#243, kuberay#715, tektoncd/pipeline#3656).
export const scenario = members(
  reconciler({
    watches: [ConfigMap],
    create: () => async (name, app, context) => {
      if (!app) return;
      const { client, cached } = context;
      const { size } = app.spec;
      const found = cached(ConfigMap).list(name).length;
      if (found < size) {
        const draft = configMap(app, "", {}, { ...ownedBy(app), generateName: `${name}-`, name: undefined });
        await client.create(ConfigMap, draft);
        return 1_000;
      }
      await setStatus(context, app, { phase: `${size} of ${size}` });
    },
  }),
);
