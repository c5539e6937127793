import { timestamp } from "@konverge/core";
import { ConfigMap } from "@konverge/kinds";
import { reconciler } from "../lib/reconciler.ts";
import { configMap, ownedBy, setStatus, tolerant } from "../lib/steps.ts";
import { thereAndBack } from "./scenario.ts";

/** It takes a member this long to hand over its data. */
const DRAIN_MS = 5_000;

// A member that was drained to be removed stays drained if it is needed after all (instaclustr/cassandra-operator#410).
export const scenario = thereAndBack(
  reconciler({
    watches: [ConfigMap],
    create: () => async (name, app, context) => {
      if (!app) return;
      const { client, clock, cached, namespace } = context;
      const members = cached(ConfigMap).list(name);
      const { size } = app.spec;
      const keyAt = (i: number) => `${namespace}/${name}-${i}`;
      for (let i = 0; i < size; i++) {
        const member = members.find(({ metadata }) => metadata.name === `${name}-${i}`);
        const draft = configMap(app, `${name}-${i}`, { drained: "no" }, ownedBy(app));
        if (!member) await tolerant(client.create(ConfigMap, draft));
      }
      const last = members.at(-1);
      if (last && members.length > size) {
        const since = last.data?.["drained"];
        if (since === undefined || since === "no") {
          await client.patch(ConfigMap, keyAt(members.length - 1), { merge: { data: { drained: timestamp(clock) } } });
          return DRAIN_MS;
        }
        if (clock.now() - Date.parse(since) < DRAIN_MS) return DRAIN_MS;
        await tolerant(client.delete(ConfigMap, keyAt(members.length - 1)));
        return 1_000;
      }
      await setStatus(context, app, { phase: `${size} of ${size}` });
    },
  }),
);
