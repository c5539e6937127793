import { ConfigMap } from "@konverge/kinds";
import { reconciler } from "../lib/reconciler.ts";
import { configMap, ownedBy, setStatus, tolerant } from "../lib/steps.ts";
import { replacement } from "./scenario.ts";

const DRAIN = "example.com/drain";

// Whatever has the label is taken for the member of this App, also that of a dead one (instaclustr/cassandra-operator#404).
export const scenario = replacement(
  reconciler({
    watches: [ConfigMap],
    create: () => async (name, app, context) => {
      const { client, cached, namespace } = context;
      const member = cached(ConfigMap).list(name)[0];
      if (member?.metadata.deletionTimestamp && member.metadata.finalizers) {
        // Draining takes ten seconds.
        const since = context.clock.now() - Date.parse(member.metadata.deletionTimestamp);
        if (since >= 10_000) {
          const key = `${namespace}/${member.metadata.name}`;
          const isSame = { op: "test", path: "/metadata/uid", value: member.metadata.uid } as const;
          const release = [isSame, { op: "remove", path: "/metadata/finalizers" } as const];
          await tolerant(client.patch(ConfigMap, key, { json: release }));
          return 1_000;
        }
      }
      if (!app) return member ? 2_000 : undefined;
      if (!member) {
        const draft = configMap(app, `${name}-member`, {}, { ...ownedBy(app), finalizers: [DRAIN] });
        await tolerant(client.create(ConfigMap, draft));
      } else if (member.metadata.ownerReferences?.[0]?.uid !== app.metadata.uid) {
        const key = `${namespace}/${member.metadata.name}`;
        await client.patch(ConfigMap, key, { merge: { metadata: ownedBy(app) } });
      }
      await setStatus(context, app, { phase: "Ready" });
      return member?.metadata.deletionTimestamp ? 2_000 : undefined;
    },
  }),
);
