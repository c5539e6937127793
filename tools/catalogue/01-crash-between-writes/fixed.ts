import { ConfigMap } from "@konverge/kinds";
import { reconciler } from "../lib/reconciler.ts";
import { configMap, ownedBy, setStatus, tolerant } from "../lib/steps.ts";
import { upgrade } from "./scenario.ts";

/** The old object is deleted last: until then it shows what remains to be done. */
export const scenario = upgrade(
  reconciler({
    watches: [ConfigMap],
    create: () => async (name, app, context) => {
      if (!app) return;
      const { client, cached, namespace } = context;
      const { version } = app.spec;
      const current = `${name}-v${version}`;
      const old = cached(ConfigMap)
        .list(name)
        .find(({ metadata }) => metadata.name !== current);
      if (!cached(ConfigMap).get(current)) {
        // The settings are older than this version: a restored object keeps them, too.
        const data = old?.data ?? { createdWith: app.status?.id ?? version };
        await tolerant(client.create(ConfigMap, configMap(app, current, data, ownedBy(app))));
      }
      if (old) {
        const { uid = "" } = old.metadata;
        await tolerant(client.delete(ConfigMap, `${namespace}/${old.metadata.name}`, { preconditions: { uid } }));
      }
      await setStatus(context, app, { phase: version, id: app.status?.id ?? version });
    },
  }),
);
