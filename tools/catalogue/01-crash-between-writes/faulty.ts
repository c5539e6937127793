import { ConfigMap } from "@konverge/kinds";
import { reconciler } from "../lib/reconciler.ts";
import { configMap, ownedBy, setStatus, tolerant } from "../lib/steps.ts";
import { upgrade } from "./scenario.ts";

// Whether an upgrade is under way is inferred from the old object, which the upgrade deletes first (rabbitmq/cluster-operator#782).
export const scenario = upgrade(
  reconciler({
    watches: [ConfigMap],
    create: () => async (name, app, context) => {
      if (!app) return;
      const { client, cached, namespace } = context;
      const { version } = app.spec;
      const old = cached(ConfigMap)
        .list(name)
        .find(({ metadata }) => metadata.name !== `${name}-v${version}`);
      if (old) {
        await client.delete(ConfigMap, `${namespace}/${old.metadata.name}`);
        await client.create(ConfigMap, configMap(app, `${name}-v${version}`, old.data ?? {}, ownedBy(app)));
      } else if (!app.status?.phase) {
        const data = { createdWith: version };
        await tolerant(client.create(ConfigMap, configMap(app, `${name}-v${version}`, data, ownedBy(app))));
      }
      await setStatus(context, app, { phase: version });
    },
  }),
);
